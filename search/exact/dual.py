"""The least kappa that a cell's inequalities prove: the dual of its worst case.

On a cell the forms g_1, g_2, ... are non-negative. If kappa V - E - sum_k mu_k g_k is a non-negative form for some
mu >= 0, then E <= kappa V there, E being the squared error and V the variance. The least such kappa is a small
semidefinite program. Its solution is pulled towards a strictly feasible point until it is feasible with a margin
that survives rounding to rationals.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.forms import Form

BITS = 48
INWARD = (*(10.0 ** (exponent / 2) for exponent in range(-24, 0)), 1.0)
"""How far a solution is pulled towards the interior, tried in this order."""
MARGIN = 2.0**-42
"""The depth inside the feasible set that rounding to ``BITS`` places cannot use up."""


PRECISE = {"CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}}
"""Settings under which a solver goes to the end of its precision. It may then call its result inaccurate, which does
not matter: what counts is whether the rounded multipliers prove something."""


@dataclass(frozen=True)
class Cell:
    """E <= kappa V has to follow from g >= 0; every row of ``limits`` demands row . mu <= 0."""

    error: Form
    variance: Form
    inequalities: tuple[Form, ...]
    limits: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Proof:
    """A kappa with multipliers, all rational."""

    kappa: Fraction
    multipliers: tuple[Fraction, ...]


def prove(cell: Cell, *, solver: str = "CLARABEL") -> Proof:
    """A kappa next to the least one, with multipliers that prove it."""
    numbers = _Numbers(cell)
    best = _program(numbers, None, solver)
    inside = _program(numbers, 2 * float(best[0]) + 1, solver)
    for step in INWARD:
        point = (1 - step) * best + step * inside
        if numbers.depth(point) >= MARGIN:
            break
    return Proof(rational(point[0]), tuple(map(rational, point[1:])))


def rational(value: float) -> Fraction:
    """The dyadic rational with ``BITS`` binary places next to a float."""
    return Fraction(round(value * 2**BITS), 2**BITS)


def worst_case(cell: Cell, *, solver: str = "CLARABEL") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The other side of the program: the means and scatters of an input with the largest ratio on the cell.

    It maximises E(X) over Gram matrices X of the means and scatters, with V(X) = 1 and, for some nu >= 0,
    g_k(X) + sum_l nu_l limits_lk >= 0. The means are rows of coordinates that sum to zero.
    """
    import cvxpy

    cp: Any = cvxpy
    numbers = _Numbers(cell)
    gram = cp.Variable((numbers.size, numbers.size), PSD=True)
    scatter = cp.Variable(len(cell.error.scatter), nonneg=True)
    slack = cp.Variable(max(1, len(cell.limits)), nonneg=True)

    def value(form: Form) -> Any:
        return cp.sum(cp.multiply(numbers.basis.T @ form.matrix @ numbers.basis, gram)) + form.scatter @ scatter

    conditions = [value(cell.variance) <= 1]
    for index, form in enumerate(cell.inequalities):
        column = np.array([row[index] for row in cell.limits] or [0.0])
        conditions.append(value(form) + column @ slack >= 0)
    conditions += [scatter[index] == 0 for index, used in enumerate(numbers.scattered) if not used]
    _solve(cp.Problem(cp.Maximize(value(cell.error)), conditions), solver)
    values, vectors = np.linalg.eigh(np.asarray(gram.value))
    means = numbers.basis @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return means, np.maximum(np.asarray(scatter.value, dtype=float), 0.0)


class _Numbers:
    """The coefficients of a cell: of kappa and the multipliers, and constant ones.

    Matrices are on coordinates that sum to zero, where translation-invariant forms live. A scatter that no form
    looks at (that of a role with one worker) is left out.
    """

    def __init__(self, cell: Cell) -> None:
        forms = [cell.variance, *((-1.0) * form for form in cell.inequalities), cell.error]
        count = len(cell.error.scatter)
        self.basis = np.linalg.qr(np.eye(count)[:, 1:] - 1.0 / count)[0]
        matrices = np.array([self.basis.T @ form.matrix @ self.basis for form in forms])
        scatters = np.array([form.scatter for form in forms])
        self.scattered = np.any(scatters != 0, axis=0)
        self.size = count - 1
        self.matrices, self.constant = matrices[:-1], matrices[-1]
        self.scatters, self.constant_scatter = scatters[:-1, self.scattered], scatters[-1, self.scattered]
        self.limits = np.array(cell.limits).reshape(len(cell.limits), len(cell.inequalities))

    def depth(self, point: NDArray[np.float64]) -> float:
        """How far inside the feasible set a point is; negative outside."""
        matrix = np.tensordot(point, self.matrices, 1) - self.constant
        parts = [np.linalg.eigvalsh(matrix)[:1], point @ self.scatters - self.constant_scatter]
        parts += [-self.limits @ point[1:], point]
        return float(np.min(np.concatenate(parts)))


def _program(numbers: _Numbers, limit: float | None, solver: str) -> NDArray[np.float64]:
    """(kappa, mu) with the least kappa; or, with kappa up to a limit, the point deepest inside."""
    import cvxpy

    cp: Any = cvxpy
    size = numbers.size
    point = cp.Variable(len(numbers.matrices), nonneg=True)
    depth = cp.Variable() if limit is not None else 0.0
    slack = cp.Variable((size, size), PSD=True)
    matrix = cp.reshape(point @ numbers.matrices.reshape(len(numbers.matrices), -1), (size, size), order="C")
    conditions = [matrix - numbers.constant == slack + depth * np.eye(size)]
    if numbers.scatters.size:
        conditions.append(point @ numbers.scatters - numbers.constant_scatter >= depth)
    if len(numbers.limits):
        conditions.append(numbers.limits @ point[1:] + depth <= 0)
    if limit is None:
        problem = cp.Problem(cp.Minimize(point[0]), conditions)
    else:
        problem = cp.Problem(cp.Maximize(depth), [*conditions, point >= depth, point[0] <= limit, depth <= 1.0])
    _solve(problem, solver)
    found: NDArray[np.float64] = np.maximum(np.asarray(point.value, dtype=float), 0.0)
    return found


def _solve(problem: Any, solver: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver=solver, **PRECISE.get(solver, {}))
