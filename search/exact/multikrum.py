"""MultiKrum with m = n - f: the cells whose largest ratios bound kappa*, and an input on a line from below.

Let q Byzantine vectors be selected, C be the q honest vectors that are left out and A the other honest ones. The
scores of the selected vectors are at most those of C, and the score of c in C is at most sum over S of ||x_c - x_s||^2.
``verify/certified/multikrum.py`` shows which patterns of neighbours have to be looked at; each is a handful of roles,
so the largest ratio on it is a small semidefinite program.

For n >= 3f kappa* is 4f/(n - 2f), that of the cell (f, 0). For smaller n that cell asks too much: the selected honest
vectors could not have such scores. It is then divided by their neighbours, which gives a smaller bound for some n.

On a line: n - 2f honest vectors at 0 and f at 1, the Byzantine ones at -min(1, ((n - 2f)/f)^(1/2)), just far enough for
their scores, and those of the vectors at 0, to stay below those of the vectors at 1. Ratio: 4f/(n - 2f) for n >= 3f,
else (1 + (f/(n - 2f))^(1/2))^2, which is not the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.search.exact.dual import Cell
from kappaguard.search.exact.forms import Orbits

TRIFLE = 1e-8
BITS = 40

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Pattern:
    """The roles of a cell by kind, each with its number of workers, and the neighbours of selected vectors.

    ``near`` says, for roles of selected vectors, to which roles their score is at least the sum of squared distances.
    ``pull`` is how many times the mean of a Byzantine role counts in the error.
    """

    kept: dict[str, int]
    out: dict[str, int]
    byzantine: dict[str, int]
    near: dict[str, tuple[str, ...]]
    pull: dict[str, int]

    @property
    def honest(self) -> dict[str, int]:
        """All honest roles."""
        return {**self.kept, **self.out}

    @property
    def orbits(self) -> Orbits:
        """The roles as the forms want them."""
        return Orbits({**self.honest, **self.byzantine}, frozenset(self.honest))

    def comparisons(self) -> list[tuple[str, str]]:
        """The pairs (role left out, role selected) whose scores are compared."""
        sizes = {**self.honest, **self.byzantine}
        return [(c, role) for role in self.near if sizes[role] for c in self.out if sizes[c]]


def keys(n: int, f: int) -> Iterator[Key]:
    """All cells."""
    yield from ((q, i) for q in range(f + 1) for i in range(min(q, n - 2 * f) + 1))


def divided(n: int, f: int) -> Iterator[Key]:
    """What the cell (f, 0) may be divided into."""
    h = n - 2 * f
    yield from (("one", k, u) for k in range(1, f + 1) for u in range(h) if h <= k + u + 1 < n - f)
    yield ("all",)
    yield from ((kind, s) for kind in ("together", "stray") for s in range(h))


def pattern(n: int, f: int, key: Key) -> Pattern:
    """The roles of a cell."""
    h = n - 2 * f
    near: dict[str, tuple[str, ...]]
    match key:
        case ("one", int(k), int(u)):
            near = {"a": ("ally", "near", "nearout"), "b": ("a", "near", "far")}
            kept, out = {"a": 1, "near": u, "far": h - 1 - u}, {"nearout": n - f - 1 - k - u, "out": k + u + 1 - h}
            return Pattern(kept, out, {"ally": k, "b": int(k < f)}, near, {"ally": k, "b": f - k})
        case ("all",):
            return Pattern({"a": h}, {"out": f}, {"b": 1}, {"a": ("a", "out"), "b": ("a",)}, {"b": f})
        case ("together", int(s)):
            near = {"whole": ("whole", "mixed", "out"), "mixed": ("whole", "mixed", "b"), "b": ("whole", "mixed")}
            return Pattern({"whole": s, "mixed": h - s}, {"out": f}, {"b": f}, near, {"b": f})
        case ("stray", int(s)):
            honest = ("whole", "mixed", "guest", "out")
            near = {"whole": honest, "mixed": ("whole", "mixed", "stray", "b"), "stray": ("guest",)}
            byzantine = {"stray": 1, "b": f - 1}
            return Pattern({"whole": s, "mixed": h - s}, {"guest": 1, "out": f - 1}, byzantine, near, byzantine)
        case (int(q), int(i)):
            kept, out = {"near": h - i, "far": f - q + i}, {"both": i, "out": q - i}
            return Pattern(kept, out, {"b": 1}, {"b": ("both", "near")}, {"b": q})
    raise AssertionError(f"{key} is not a cell")


def cell(n: int, f: int, key: Key) -> Cell:
    """The forms of a cell."""
    chosen = pattern(n, f, key)
    roles = chosen.orbits
    inequalities = []
    for c, role in chosen.comparisons():
        spread = sum((roles.distances(c, other) for other in chosen.honest), roles.zero())
        reach = sum((roles.distances(role, other) for other in chosen.near[role]), roles.zero())
        inequalities.append(roles.visible(roles.size(role) * spread - roles.size(c) * reach))
    counted = {**chosen.pull, **{role: -size for role, size in chosen.out.items()}}
    direction = np.sum([count * roles.unit(role) for role, count in counted.items()], axis=0)
    return Cell(roles.square(direction / (n - f)), roles.visible(roles.variance()), tuple(inequalities))


def named(n: int, f: int, key: Key) -> tuple[list[list[str]], Cell]:
    """The cell, and for each multiplier the name under which a certificate writes it."""
    return [[f"{c}>{role}"] for c, role in pattern(n, f, key).comparisons()], cell(n, f, key)


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """The input on a line, just short of its bound, the honest vectors first."""
    h = n - 2 * f
    reach = min(1.0, math.sqrt(h / f)) * (1 - TRIFLE)
    byzantine = Fraction(-math.floor(reach * 2**BITS), 2**BITS)
    return [[value] for value in [Fraction(0)] * h + [Fraction(1)] * f + [byzantine] * f]
