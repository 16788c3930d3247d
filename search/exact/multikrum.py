"""MultiKrum with m = n - f: kappa* = 4f/(n - 2f) for n >= 3f, and a bracket for smaller n.

Above: for a selected Byzantine b and the n - 2f honest vectors H among its nearest,
sum over H of ||b - x_s||^2 is at most its score, hence at most the score of any honest c that is left out, which is
at most sum over S of ||x_c - x_s||^2. That all selected Byzantine vectors may be taken equal, with the same H, is
shown in ``verify/certified/multikrum.py``; the largest ratio on a cell (q selected Byzantine vectors, i members of H
left out) is then a semidefinite program over five means.

Below: n - 2f honest vectors at 0 and f at 1, the Byzantine ones at -min(1, ((n - 2f)/f)^(1/2)), just far enough for
their scores, and those of the vectors at 0, to stay below those of the vectors at 1. Ratio: 4f/(n - 2f) for n >= 3f,
else (1 + (f/(n - 2f))^(1/2))^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from kappaguard.search.exact.dual import Cell
from kappaguard.search.exact.forms import Orbits

TRIFLE = 1e-8
BITS = 40
HONEST = ("both", "out", "kept", "rest")


class Key(NamedTuple):
    """How many Byzantine vectors are selected, and how many of b's neighbours H are left out."""

    byzantine: int
    both: int


def keys(n: int, f: int) -> Iterator[Key]:
    """All cells."""
    for q in range(f + 1):
        for i in range(min(q, n - 2 * f) + 1):
            yield Key(q, i)


def orbits(n: int, f: int, key: Key) -> Orbits:
    """The roles of a cell."""
    q, i = key
    sizes = {"b": 1, "both": i, "out": q - i, "kept": n - 2 * f - i, "rest": f - q + i}
    return Orbits(sizes, frozenset(HONEST))


def cell(n: int, f: int, key: Key) -> Cell:
    """The forms of a cell."""
    roles = orbits(n, f, key)
    reach = roles.distances("b", "both") + roles.distances("b", "kept")
    inequalities = []
    for role in _left_out(roles):
        spread = sum((roles.distances(role, other) for other in HONEST), roles.zero())
        inequalities.append(roles.visible(spread - roles.size(role) * reach))
    direction = key.byzantine * roles.unit("b")
    for role in _left_out(roles):
        direction = direction - roles.size(role) * roles.unit(role)
    error = roles.square(direction / (n - f))
    return Cell(error, roles.visible(roles.variance()), tuple(inequalities))


def _left_out(roles: Orbits) -> list[str]:
    return [role for role in ("both", "out") if roles.size(role)]


def named(n: int, f: int, key: Key) -> tuple[list[list[str]], Cell]:
    """The cell, and for each multiplier the name under which a certificate writes it."""
    return [[role] for role in _left_out(orbits(n, f, key))], cell(n, f, key)


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """An input just short of the lower bound, the honest vectors first."""
    h = n - 2 * f
    reach = min(1.0, math.sqrt(h / f)) * (1 - TRIFLE)
    byzantine = Fraction(-math.floor(reach * 2**BITS), 2**BITS)
    return [[value] for value in [Fraction(0)] * h + [Fraction(1)] * f + [byzantine] * f]
