"""The program of a node: its largest ratio, from above.

With error E, variance V and inequalities g_k >= 0, all linear in the averaged Gram matrix and in the scalars, it is

    max E   with V <= 1, g_k >= 0, blocks positive semidefinite, scalars >= 0 .

If that is ill-posed, E - kappa V is maximised under a bounded trace instead, which never is: if that is at most
zero, kappa holds. What a solver says about itself is not believed anywhere: a bound counts when its multipliers, as
rationals, pass the checker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kappaguard.search.exact.space import Floats, Space

NEGLIGIBLE = 1e-7
ITERATIONS = 100
PRECISE = 1e-12


@dataclass(frozen=True)
class NodeSolution:
    """The value of a node's program and where it is reached; no point if the program has nothing above its floor."""

    value: float
    point: Floats | None


def largest(space: Space, error: Floats, variance: Floats, inequalities: list[Floats], floor: float) -> NodeSolution:
    """An upper bound on the ratio; ``floor`` is the value below which nobody cares."""
    rows = normalised(inequalities)
    value, point, status = _maximise(space, error, variance, rows)
    if status == "Solved" and math.isfinite(value):
        return NodeSolution(value, point)
    excess, direction, reached = _maximise(space, error - floor * variance, space.trace(), rows)
    if reached in ("Solved", "AlmostSolved"):
        if excess <= NEGLIGIBLE:
            return NodeSolution(-math.inf, None)
        if status == "AlmostSolved" and math.isfinite(value) and value < 1e4:
            return NodeSolution(value * (1 + 1e-4), point)
        return NodeSolution(math.inf, direction)
    return NodeSolution(math.inf, None)


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


def _maximise(
    space: Space, goal: Floats, bounded: Floats, rows: Floats, tolerance: float | None = None
) -> tuple[float, Floats, str]:
    """max goal . g with bounded . g <= 1 and rows . g >= 0."""
    scalars = space.length - space.first_scalar
    bottom = np.zeros((scalars, space.length))
    bottom[:, space.first_scalar :] = -np.eye(scalars)
    linear = np.vstack([bounded[None], bottom, -rows] if len(rows) else [bounded[None], bottom])
    cone = -np.eye(space.first_scalar, space.length)
    matrix = np.vstack([linear, cone])
    right = np.zeros(len(matrix))
    right[0] = 1.0
    return solve(-goal, matrix, right, len(linear), space.blocks, tolerance)


def polished(
    space: Space, error: Floats, variance: Floats, inequalities: list[Floats], before: NodeSolution
) -> NodeSolution:
    """The same program to the end of the solver's precision; what was known before if that leads nowhere."""
    value, point, _ = _maximise(space, error, variance, normalised(inequalities), PRECISE)
    agrees = np.isfinite(point).all() and abs(value - before.value) <= 1e-4 * abs(before.value)
    return NodeSolution(value, point) if agrees else before


def solve(
    goal: Floats, matrix: Floats, right: Floats, linear: int, blocks: list[int], tolerance: float | None = None
) -> tuple[float, Floats, str]:
    """min goal . z with right - matrix z in the cone: ``linear`` non-negative entries, then packed matrices."""
    import clarabel
    from scipy.sparse import csc_matrix

    cones: list[Any] = [clarabel.NonnegativeConeT(linear)]
    cones += [clarabel.PSDTriangleConeT(size) if size > 1 else clarabel.NonnegativeConeT(1) for size in blocks if size]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = ITERATIONS
    if tolerance is not None:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    count = len(goal)
    solver = clarabel.DefaultSolver(csc_matrix((count, count)), goal, csc_matrix(matrix), right, cones, settings)
    solution = solver.solve()
    return -float(solution.obj_val), np.array(solution.x), str(solution.status)
