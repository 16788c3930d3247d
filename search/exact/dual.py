"""The least kappa that a cell's inequalities prove: the dual of its worst case.

On a cell the forms g_1, g_2, ... are non-negative. If kappa V - E - sum_k mu_k g_k is a non-negative form for some
mu >= 0, then E <= kappa V there, E being the squared error and V the variance. The least such kappa is a small
semidefinite program. Its solution is pulled towards a strictly feasible point until it is feasible with a margin
that survives rounding to rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.conic import (
    INACCURATE,
    OPTIMAL,
    SOLVERS,
    NoAnswer,
    Program,
    Solution,
    packed,
    solve,
    unpacked,
)
from kappaguard.search.exact.forms import Form

BITS = 48
INWARD = (*(10.0 ** (exponent / 2) for exponent in range(-24, 0)), 1.0)
"""How far a solution is pulled towards the interior, tried in this order."""
FAINT = 1e-11
"""Eigenvalues of a Gram matrix below this part of the largest are taken for zero."""
MARGIN = 2.0**-42
"""The depth inside the feasible set that rounding to ``BITS`` places cannot use up."""


PRECISE = 1e-13
"""The tolerance with which a solver goes to the end of its precision. It may then call its result inaccurate, which
does not matter: what counts is whether the rounded multipliers prove something."""


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


def prove(cell: Cell, *, solver: str | None = None) -> Proof:
    """A kappa next to the least one, with multipliers that prove it; of any solver, or a given one."""
    if not np.any(cell.error.matrix):
        return Proof(Fraction(0), (Fraction(0),) * len(cell.inequalities))
    numbers = _Numbers(cell)
    for name in SOLVERS if solver is None else (solver,):
        point = _feasible(numbers, name)
        if point is not None:
            break
    else:
        raise NoAnswer("no solver has a point inside the feasible set of a cell")
    multipliers = zip(point[1:], numbers.units, strict=True)
    return Proof(rational(point[0]), tuple(rational(value) / unit for value, unit in multipliers))


def bound(cell: Cell) -> float:
    """The least kappa of a cell as a solver has it, unproved; infinite if it has none."""
    if not np.any(cell.error.matrix):
        return 0.0
    try:
        return float(_solved(_program(_Numbers(cell), None), None).point[0])
    except NoAnswer:
        return float("inf")


def _feasible(numbers: _Numbers, solver: str) -> NDArray[np.float64] | None:
    """The best point of a solver, pulled inside until rounding cannot spoil it; None if the solver has none."""
    try:
        best = _point(numbers, None, solver)
        inside = _point(numbers, 2 * float(best[0]) + 1, solver)
    except NoAnswer:
        return None
    for step in INWARD:
        point: NDArray[np.float64] = (1 - step) * best + step * inside
        if np.all(np.isfinite(point)) and numbers.depth(point) >= MARGIN:
            return point
    return None


def rational(value: float) -> Fraction:
    """The dyadic rational with ``BITS`` binary places next to a float."""
    return Fraction(round(value * 2**BITS), 2**BITS)


def worst_case(cell: Cell, *, solver: str | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The other side of the program: the means and scatters of an input with the largest ratio on the cell.

    It maximises E(X) over Gram matrices X of the means and scatters, with V(X) = 1 and, for some nu >= 0,
    g_k(X) + sum_l nu_l limits_lk >= 0: X and the scatters are the multipliers of the program for the least kappa. The
    means are rows of coordinates that sum to zero.
    """
    numbers = _Numbers(cell)
    program = _program(numbers, None)
    multipliers = _solved(program, solver).multipliers
    gram = unpacked(multipliers[program.nonnegative :], numbers.size)
    values, vectors = np.linalg.eigh(gram)
    # what an interior-point method leaves of zero would only be further dimensions
    values[values < FAINT * values.max()] = 0.0
    means = numbers.basis @ (vectors * np.sqrt(values))
    scatters = np.zeros(len(cell.error.scatter))
    count = len(numbers.matrices)
    scatters[numbers.scattered] = np.maximum(multipliers[count : count + numbers.scatters.shape[1]], 0.0)
    return means, scatters


class _Numbers:
    """The coefficients of a cell: of kappa and the multipliers, and constant ones.

    Matrices are on coordinates that sum to zero, where translation-invariant forms live. A scatter that no form
    looks at (that of a role with one worker) is left out. Inequalities are divided by powers of two, ``units``, so
    that their coefficients, which grow with the numbers of workers, are about one.
    """

    def __init__(self, cell: Cell) -> None:
        self.units = [_power_of_two(form) for form in cell.inequalities]
        scaled = [-1.0 / unit * form for form, unit in zip(cell.inequalities, self.units, strict=True)]
        forms = [cell.variance, *scaled, cell.error]
        count = len(cell.error.scatter)
        self.basis = np.linalg.qr(np.eye(count)[:, 1:] - 1.0 / count)[0]
        matrices = np.array([self.basis.T @ form.matrix @ self.basis for form in forms])
        scatters = np.array([form.scatter for form in forms])
        self.scattered = np.any(scatters != 0, axis=0)
        self.size = count - 1
        self.matrices, self.constant = matrices[:-1], matrices[-1]
        self.scatters, self.constant_scatter = scatters[:-1, self.scattered], scatters[-1, self.scattered]
        limits = np.array(cell.limits).reshape(len(cell.limits), len(cell.inequalities)) / np.array(self.units)
        self.limits = limits / np.maximum(np.abs(limits).max(axis=1, keepdims=True, initial=0.0), 1e-300)

    def depth(self, point: NDArray[np.float64]) -> float:
        """How far inside the feasible set a point is; negative outside."""
        matrix = np.tensordot(point, self.matrices, 1) - self.constant
        parts = [np.linalg.eigvalsh(matrix)[:1], point @ self.scatters - self.constant_scatter]
        parts += [-self.limits @ point[1:], point]
        return float(np.min(np.concatenate(parts)))


def _power_of_two(form: Form) -> int:
    size = max(float(np.abs(form.matrix).max()), float(np.abs(form.scatter).max()), 1.0)
    return 1 << int(np.ceil(np.log2(size)))


def _program(numbers: _Numbers, limit: float | None) -> Program:
    """(kappa, mu) with the least kappa; or, with kappa up to a limit, the point deepest inside."""
    count, size = len(numbers.matrices), numbers.size
    inner = 0.0 if limit is None else 1.0
    rows = [(-np.eye(count), np.zeros(count))]
    rows.append((-numbers.scatters.T, -numbers.constant_scatter))
    rows.append((np.hstack([np.zeros((len(numbers.limits), 1)), numbers.limits]), np.zeros(len(numbers.limits))))
    matrix = np.vstack([part for part, _ in rows])
    right = np.concatenate([part for _, part in rows])
    depth = np.full((len(right), 1), inner)
    if limit is not None:
        matrix = np.vstack([matrix, np.eye(1, count), np.zeros((1, count))])
        right, depth = np.append(right, [limit, 1.0]), np.vstack([depth, [[0.0], [1.0]]])
    nonnegative = len(right)
    matrix = np.vstack([matrix, -np.array([packed(each) for each in numbers.matrices]).T])
    right = np.append(right, -packed(numbers.constant))
    depth = np.vstack([depth, inner * packed(np.eye(size))[:, None]])
    goal = np.append(np.eye(1, count)[0], 0.0) if limit is None else np.append(np.zeros(count), -1.0)
    return Program(goal, np.hstack([matrix, depth]), right, 0, nonnegative, size)


def _point(numbers: _Numbers, limit: float | None, solver: str) -> NDArray[np.float64]:
    found = _solved(_program(numbers, limit), solver).point[: len(numbers.matrices)]
    return np.maximum(found, 0.0)


def _solved(program: Program, solver: str | None) -> Solution:
    return solve(program, solver, PRECISE, enough=(OPTIMAL, INACCURATE))
