"""Krum: exact kappa* from small semidefinite programs.

Let y be the vector that Krum selects and N its n - f nearest vectors. If N holds q honest and p Byzantine vectors
besides y, the cell is (who y is, q, p), and the roles are: y; ``near``, the q honest ones in N; ``far``, the other
honest ones; ``ally``, the p Byzantine ones in N; the remaining Byzantine vectors do not appear. Every other vector
j has a score of at least y's, and its score is at most sum_i t_i ||x_j - x_i||^2 for any weights t in [0, 1] that
sum to n - f - 1. Hence, with Score = sum over N of ||y - x_i||^2,

    sum over j in a role of ( sum_i t_i ||x_j - x_i||^2 - Score )  >=  0.

These inequalities are linear in squared distances and sums over whole roles, so the largest ratio on the cell is a
semidefinite program over at most four means, whatever n is. Scores being the least such sums, the inequalities lose
nothing: the bound of the best cell is attained.

Krum is written with other numbers of neighbours in some libraries. With ``neighbours`` besides itself in a score, N
holds that many besides y, and the same programs give inputs that are bad for that variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.krum import scores
from kappaguard.search.exact.dual import Cell, worst_case
from kappaguard.search.exact.forms import Orbits
from kappaguard.search.exact.vectors import rows

ROLES = ("near", "far", "ally")
TRIFLES = (1e-8, 3e-8, 1e-7, 1e-6, 1e-5, 1e-4)
BITS = 40


class Key(NamedTuple):
    """Who is selected (``honest`` or ``byzantine``), and the composition of its neighbourhood."""

    selected: str
    honest: int
    byzantine: int


def keys(n: int, f: int, neighbours: int | None = None) -> Iterator[Key]:
    """All cells."""
    near = n - f - 1 if neighbours is None else neighbours
    for selected, own in (("byzantine", 0), ("honest", 1)):
        for byzantine in range(f + own):
            honest = near - byzantine
            if 0 <= honest <= n - f - own:
                yield Key(selected, honest, byzantine)


def orbits(n: int, f: int, key: Key) -> Orbits:
    """The roles of a cell."""
    own = int(key.selected == "honest")
    sizes = {"y": 1, "near": key.honest, "far": n - f - own - key.honest, "ally": key.byzantine}
    return Orbits(sizes, frozenset({"near", "far", *(["y"] if own else [])}))


def selections(near: int, roles: Orbits) -> list[tuple[str, dict[str, int]]]:
    """What carries a multiplier: j's role, and the roles i with their numbers to which it gives the same weight.

    One for every pair of roles; where j has no more others than are in a score, all have weight 1 and one is enough.
    """
    chosen: list[tuple[str, dict[str, int]]] = []
    for j in (role for role in ROLES if roles.size(role)):
        others = {i: roles.size(i) - (i == j) for i in ("y", *ROLES) if roles.size(i) - (i == j) > 0}
        forced = sum(others.values()) == near
        chosen += [(j, others)] if forced else [(j, {i: count}) for i, count in others.items()]
    return chosen


def cell(n: int, f: int, key: Key) -> Cell:
    """The forms of a cell; the multiplier of a selection is lambda_j t_ji, so t_ji <= 1 is a limit."""
    roles = orbits(n, f, key)
    near = key.honest + key.byzantine
    score = roles.distances("y", "near") + roles.distances("y", "ally")
    chosen = selections(near, roles)
    share = [sum(others.values()) / near for _, others in chosen]
    inequalities = []
    for (j, others), part in zip(chosen, share, strict=True):
        reached = sum((roles.distances(j, i) for i in others), roles.zero())
        inequalities.append(roles.visible(reached - part * roles.size(j) * score))
    limits = [
        tuple((index == other) - share[other] * (chosen[other][0] == j) for other in range(len(chosen)))
        for index, (j, others) in enumerate(chosen)
        if share[index] < 1
    ]
    error = roles.square(roles.unit("y") - roles.honest_mean())
    return Cell(error, roles.visible(roles.variance()), tuple(inequalities), tuple(limits))


def named(n: int, f: int, key: Key) -> tuple[list[list[str]], Cell]:
    """The cell, and for each multiplier the names ``j>i`` under which a certificate writes it."""
    chosen = selections(key.honest + key.byzantine, orbits(n, f, key))
    return [[f"{j}>{i}" for i in others] for j, others in chosen], cell(n, f, key)


def worst_input(n: int, f: int, key: Key) -> tuple[list[list[Fraction]], list[int]]:
    """An input of the cell whose ratio is its largest one, up to a trifle; and the honest indices.

    Order: y, near, far, ally, then the Byzantine vectors that play no part, far away. y and its allies are moved
    towards its honest neighbours by a trifle, which lowers y's score below all others. Few corners for the scattered
    roles are tried first, and the trifle is as small as it can be for y to be selected.
    """
    roles = orbits(n, f, key)
    means, scatters = worst_case(cell(n, f, key))
    best: tuple[float, list[list[Fraction]], list[int]] | None = None
    for groups in sorted({min(groups, n) for groups in (2, 3, 5, 8, n)}):
        for trifle in TRIFLES:
            x, honest = _arrange(n, roles, means, scatters, groups, trifle)
            ratio = _ratio(x, honest, key.honest + key.byzantine)
            if best is None or ratio > best[0] * (1 + 1e-7):
                best = (ratio, x, honest)
            if ratio > 0 and ratio >= best[0]:
                break
    assert best is not None
    return best[1:]


def _arrange(
    n: int, roles: Orbits, means: NDArray[np.float64], scatters: NDArray[np.float64], groups: int, trifle: float
) -> tuple[list[list[Fraction]], list[int]]:
    names, moved = roles.names, means.copy()
    if "near" in names:
        for name in ("y", "ally"):
            if name in names:
                moved[names.index(name)] += trifle * (means[names.index("near")] - means[names.index(name)])
    vectors = rows(roles, moved, scatters, groups, BITS)
    x = [row for name in names for row in vectors[name]]
    honest = [index for index, name in enumerate(name for name in names for _ in vectors[name]) if name in roles.honest]
    idle = n - len(x)
    if idle:
        far = 1000 * (1 + max(abs(value) for row in x for value in row))
        x = [[*row, Fraction(0)] for row in x] + [[Fraction(0)] * len(x[0]) + [far * (1 + k)] for k in range(idle)]
    return x, honest


def _ratio(x: list[list[Fraction]], honest: list[int], neighbours: int) -> float:
    """The ratio in floats, to choose between arrangements; the judge evaluates the chosen one exactly."""
    points = np.array([[float(value) for value in row] for row in x])
    mean = points[honest].mean(axis=0)
    distances = np.sum((points[:, None] - points[None]) ** 2, axis=-1)
    error = points[np.argmin(scores(distances, neighbours + 1))] - mean
    return float(error @ error / ((points[honest] - mean) ** 2).sum(axis=1).mean())
