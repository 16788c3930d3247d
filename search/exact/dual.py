"""The least kappa that a cell's inequalities prove: the dual of its worst case.

On a cell the forms g_1, g_2, ... are non-negative. If kappa V - E - sum_k mu_k g_k is a non-negative form for some
mu >= 0, then E <= kappa V there, E being the squared error and V the variance. The least such kappa is a small
semidefinite program. Its solution is rounded to rationals and pulled towards a strictly feasible point, so that
what is written down is a proof and not a solver's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.forms import Form

BITS = 40
INWARD = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4)
"""How far a solution is pulled towards the interior, tried in this order."""


@dataclass(frozen=True)
class Cell:
    """E <= kappa V has to follow from g >= 0; ``equalities`` are linear conditions on the multipliers.

    ``equalities`` has a row of coefficients for each condition sum_k c_k mu_k = 0.
    """

    error: Form
    variance: Form
    inequalities: tuple[Form, ...]
    equalities: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Proof:
    """A kappa with multipliers, both rational."""

    kappa: Fraction
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class Point:
    """A kappa with multipliers, in floats."""

    kappa: float
    multipliers: NDArray[np.float64]


def solve(cell: Cell, *, solver: str = "CLARABEL") -> tuple[Point, Point]:
    """The least kappa with its multipliers, and a strictly feasible point near it."""
    best = _program(cell, None, solver)
    return best, _program(cell, 1.5 * best.kappa + 0.5, solver)


def _program(cell: Cell, limit: float | None, solver: str) -> Point:
    """The least kappa; or, below a limit, the point deepest inside."""
    import cvxpy as cp

    basis = _differences(len(cell.error.scatter))
    kappa = cp.Variable(nonneg=True)
    depth = cp.Variable()
    count = len(cell.inequalities)
    multipliers = cp.Variable(max(count, 1), nonneg=True)
    matrices = np.array([(basis.T @ form.matrix @ basis).ravel() for form in cell.inequalities]).reshape(count, -1)
    scatters = np.array([form.scatter for form in cell.inequalities]).reshape(count, -1)
    size = basis.shape[1]
    constant = basis.T @ cell.error.matrix @ basis
    slack = kappa * (basis.T @ cell.variance.matrix @ basis) - constant
    weights = kappa * cell.variance.scatter - cell.error.scatter
    if count:
        slack = slack - cp.reshape(multipliers @ matrices, (size, size), order="C")
        weights = weights - multipliers @ scatters
    conditions = [] if limit is None else [kappa <= limit, depth <= 1.0]
    margin = 0.0 if limit is None else depth
    symmetric = cp.Variable((size, size), PSD=True)
    conditions += [slack == symmetric + margin * np.eye(size), weights >= margin]
    if limit is not None:
        conditions.append(multipliers >= margin)
    conditions += [np.array(row) @ multipliers == 0 for row in cell.equalities]
    problem = cp.Problem(cp.Minimize(kappa) if limit is None else cp.Maximize(depth), conditions)
    problem.solve(solver=solver)
    return Point(float(kappa.value), np.maximum(np.asarray(multipliers.value, dtype=float), 0.0)[:count])


def _differences(size: int) -> NDArray[np.float64]:
    """A basis of the space on which translation-invariant forms live: coordinates that sum to zero."""
    return np.linalg.qr(np.eye(size)[:, 1:] - 1.0 / size)[0]


def rational(value: float) -> Fraction:
    """The dyadic rational with ``BITS`` binary places next to a float."""
    return Fraction(round(value * 2**BITS), 2**BITS)


def candidates(best: Point, inside: Point) -> Sequence[Point]:
    """The solution, then points pulled farther and farther inwards."""
    return [
        Point(
            (1 - step) * best.kappa + step * inside.kappa,
            (1 - step) * best.multipliers + step * inside.multipliers,
        )
        for step in INWARD
    ]
