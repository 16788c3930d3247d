"""MDA: exact kappa* from small semidefinite programs, and its closed form.

Let q vectors of the selected subset W be Byzantine. The diameter of W is at most that of S, attained by two honest
vectors first and second, each in W or out of it; every squared distance within W is at most theirs. Error,
variance and these inequalities are sums over roles, so the largest ratio on a cell (q, place of first, place of
second) is a semidefinite program over at most five means. The best cell is q = f with one of the two in W and one
out, and its worst input is on a line: see ``worst_input``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from kappaguard.search.exact.dual import Cell
from kappaguard.search.exact.forms import Orbits

TRIFLE = Fraction(1, 10**8)
"""How far, relative to the diameter, the worst input stays off its tie."""


class Key(NamedTuple):
    """How many Byzantine vectors are selected, and whether the farthest honest pair is ``in`` or ``out``."""

    byzantine: int
    first: str
    second: str


def keys(n: int, f: int) -> Iterator[Key]:
    """All cells."""
    for q in range(f + 1):
        for places in (("in", "in"), ("in", "out"), ("out", "out")):
            if places.count("in") <= n - f - q and places.count("out") <= q:
                yield Key(q, *places)


def orbits(n: int, f: int, key: Key) -> Orbits:
    """The roles of a cell."""
    places = key[1:]
    sizes = {
        "byzantine": key.byzantine,
        "in": n - f - key.byzantine - places.count("in"),
        "out": key.byzantine - places.count("out"),
        "first": 1,
        "second": 1,
    }
    return Orbits(sizes, frozenset({"in", "out", "first", "second"}))


def inside(roles: Orbits, key: Key) -> list[str]:
    """The roles within W."""
    placed = {"byzantine": "in", "in": "in", "first": key.first, "second": key.second}
    return [role for role, place in placed.items() if place == "in" and roles.size(role)]


def pairs(roles: Orbits, key: Key) -> list[tuple[str, str]]:
    """The pairs of roles within W whose distances are bounded by that of first and second."""
    return [
        (one, two)
        for one, two in combinations_with_replacement(inside(roles, key), 2)
        if (one, two) != ("first", "second") and (one != two or roles.size(one) > 1)
    ]


def cell(n: int, f: int, key: Key) -> Cell:
    """The forms of a cell."""
    roles = orbits(n, f, key)
    widest = roles.distances("first", "second")
    inequalities = []
    for one, two in pairs(roles, key):
        count = roles.size(one) * (roles.size(two) - (one == two))
        inequalities.append(roles.visible(count * widest - roles.distances(one, two)))
    chosen = np.sum([roles.size(role) * roles.unit(role) for role in inside(roles, key)], axis=0) / (n - f)
    error = roles.square(chosen - roles.honest_mean())
    return Cell(error, roles.visible(roles.variance()), tuple(inequalities))


def named(n: int, f: int, key: Key) -> tuple[list[list[str]], Cell]:
    """The cell, and for each multiplier the name ``o-p`` under which a certificate writes it."""
    return [[f"{one}-{two}"] for one, two in pairs(orbits(n, f, key), key)], cell(n, f, key)


def kappa(n: int, f: int) -> Fraction:
    """kappa* in closed form: that of ``worst_input`` without the trifle."""
    if f == 0:
        return Fraction(0)
    rest = n - 2 * f - 1
    inner = Fraction(f * f) + Fraction(f * f, rest) if rest else Fraction(4 * f * f)
    return ((f + 1) ** 2 + inner + f - 1) / Fraction(n - f)


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """An input short of kappa* by a trifle, the honest vectors first.

    On a line: one honest vector at -(f + 1), f - 1 at -1, one at f and n - 2f - 1 at f/(n - 2f - 1) (or one at 2f if
    n = 2f + 1); the Byzantine ones as far above the lowest of the latter as the honest ones are apart.
    """
    rest = n - 2 * f - 1
    top = Fraction(f) if rest else Fraction(2 * f)
    inside = [Fraction(f, rest)] * rest if rest else []
    honest = [Fraction(-f - 1)] + [Fraction(-1)] * (f - 1) + [top, *inside]
    byzantine = min([top, *inside]) + (top + f + 1) * (1 - TRIFLE)
    return [[value] for value in honest + [byzantine] * f]
