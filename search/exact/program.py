"""The two programs of a node: its largest ratio from above, and the multipliers that prove a bound with room to spare.

With error E, variance V and inequalities g_k >= 0, all linear in the averaged Gram matrix and in the scalars,

    largest   max E   with V <= 1, g_k >= 0, blocks positive semidefinite, scalars >= 0
    deepest   max depth   with kappa V - E - sum of mu_k g_k - depth * identity positive semidefinite, mu_k >= 0 .

If the first is ill-posed, E - kappa V is maximised under a bounded trace instead, which never is: if that is at most
zero, kappa holds. What a solver says about itself is not believed anywhere: a bound counts when its multipliers, as
rationals, pass the checker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kappaguard.search.exact.space import Floats, Space, pack

NEGLIGIBLE = 1e-7
ITERATIONS = 100


@dataclass(frozen=True)
class Solution:
    """The value of a node's program and where it is reached; no point if the program has nothing above its floor."""

    value: float
    point: Floats | None


def largest(space: Space, error: Floats, variance: Floats, inequalities: list[Floats], floor: float) -> Solution:
    """An upper bound on the ratio; ``floor`` is the value below which nobody cares."""
    rows = normalised(inequalities)
    value, point, status = _maximise(space, error, variance, rows)
    if status == "Solved" and math.isfinite(value):
        return Solution(value, point)
    excess, direction, reached = _maximise(space, error - floor * variance, space.trace(), rows)
    if reached in ("Solved", "AlmostSolved"):
        if excess <= NEGLIGIBLE:
            return Solution(-math.inf, None)
        if status == "AlmostSolved" and math.isfinite(value) and value < 1e4:
            return Solution(value * (1 + 1e-4), point)
        return Solution(math.inf, direction)
    return Solution(math.inf, None)


def normalised(forms: list[Floats]) -> Floats:
    """Forms divided by their largest entries, each once, without those that vanish."""
    if not forms:
        return np.zeros((0, 0))
    rows = np.array(forms)
    sizes = np.abs(rows).max(axis=1)
    rows = rows[sizes > 1e-12] / sizes[sizes > 1e-12, None]
    if not len(rows):
        return np.zeros((0, 0))
    _, first = np.unique(np.round(rows, 11), axis=0, return_index=True)
    distinct: Floats = rows[np.sort(first)]
    return distinct


def _maximise(space: Space, goal: Floats, bounded: Floats, rows: Floats) -> tuple[float, Floats, str]:
    """max goal . g with bounded . g <= 1 and rows . g >= 0."""
    scalars = space.length - space.first_scalar
    bottom = np.zeros((scalars, space.length))
    bottom[:, space.first_scalar :] = -np.eye(scalars)
    linear = np.vstack([bounded[None], bottom, -rows] if len(rows) else [bounded[None], bottom])
    cone = -np.eye(space.first_scalar, space.length)
    matrix = np.vstack([linear, cone])
    right = np.zeros(len(matrix))
    right[0] = 1.0
    return solve(-goal, matrix, right, len(linear), space.blocks)


def solve(goal: Floats, matrix: Floats, right: Floats, linear: int, blocks: list[int]) -> tuple[float, Floats, str]:
    """min goal . z with right - matrix z in the cone: ``linear`` non-negative entries, then packed matrices."""
    import clarabel
    from scipy.sparse import csc_matrix

    cones: list[Any] = [clarabel.NonnegativeConeT(linear)]
    cones += [clarabel.PSDTriangleConeT(size) if size > 1 else clarabel.NonnegativeConeT(1) for size in blocks if size]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = ITERATIONS
    count = len(goal)
    solver = clarabel.DefaultSolver(csc_matrix((count, count)), goal, csc_matrix(matrix), right, cones, settings)
    solution = solver.solve()
    return -float(solution.obj_val), np.array(solution.x), str(solution.status)


def deepest(space: Space, slack: Floats, inequalities: Floats) -> tuple[float, Floats]:
    """The depth and the multipliers mu for which slack - sum of mu_k g_k lies deepest inside the cone of forms >= 0.

    ``slack`` is kappa V - E. Coordinates on which no combination can be positive (those of workers that play no part)
    have to be left out before, or nothing is inside.
    """
    count = len(inequalities)
    scalars = space.length - space.first_scalar
    identity = space.trace()
    identity[space.first_scalar :] = 1.0
    # unknowns mu and depth: mu >= 0, depth <= 1, and slack - sum mu g - depth identity in the cone
    zeros = np.zeros((count, 1))
    linear = [np.hstack([-np.eye(count), zeros]), np.eye(1, count + 1, count)]
    right = [np.zeros(count), np.ones(1)]
    below = np.hstack([inequalities.T, identity[:, None]]) if count else identity[:, None]
    linear.append(below[space.first_scalar :])
    right.append(slack[space.first_scalar :])
    matrix = np.vstack([*linear, below[: space.first_scalar]])
    whole = np.concatenate([*right, slack[: space.first_scalar]])
    goal = np.zeros(count + 1)
    goal[-1] = -1.0
    _, point, _ = solve(goal, matrix, whole, count + 1 + scalars, space.blocks)
    return float(point[-1]), np.maximum(point[:-1], 0.0)


__all__ = ["Solution", "deepest", "largest", "normalised", "pack", "solve"]
