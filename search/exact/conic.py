"""Conic programs, and solvers that may give up on them: the next is asked before anybody is told that there is none.

How a solver's linear algebra rounds depends on the processor: a program that is solved on one machine ends in an error,
or short of the tolerance, on another. So there are several: Clarabel, an interior-point method; the same with
regularisation that bears programs without an interior; and SCS, a first-order method, if it is installed (the extra
``solvers``). Programs are handed over as solvers want them: modelling costs more than solving here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TOLERANCE = 1e-8
OPTIMAL, INACCURATE = "optimal", "inaccurate"


class NoAnswer(ArithmeticError):
    """No solver could solve a program: this says something about the solvers and nothing about the program."""


@dataclass(frozen=True)
class Program:
    """Minimise objective . z over all z for which right - matrix z is in the cone.

    The cone's first ``zero`` entries are 0, the next ``nonnegative`` ones are that, and the rest is a semidefinite
    matrix with ``size`` rows, packed.
    """

    objective: Floats
    matrix: Floats
    right: Floats
    zero: int
    nonnegative: int
    size: int


@dataclass(frozen=True)
class Solution:
    """How a solver ended, the point z, and the multipliers of the rows."""

    status: str
    point: Floats
    multipliers: Floats


def packed(matrix: Floats) -> Floats:
    """The upper triangle of a symmetric matrix, column by column, the entries off the diagonal times the root of two:
    inner products of matrices are those of their packed forms."""
    columns, rows = np.tril_indices(len(matrix))
    values: Floats = matrix[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
    return values


def unpacked(values: Floats, size: int) -> Floats:
    """The symmetric matrix of a packed one."""
    columns, rows = np.tril_indices(size)
    matrix = np.zeros((size, size))
    matrix[rows, columns] = values / np.where(rows == columns, 1.0, np.sqrt(2.0))
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def solve(
    program: Program,
    solver: str | None = None,
    tolerance: float = TOLERANCE,
    enough: tuple[str, ...] = (OPTIMAL,),
) -> Solution:
    """The answer of the first solver that ends with ``enough``, or of a given one; where none does, the first that is
    short of the tolerance; else ``NoAnswer``."""
    ends, short = [], None
    for name in SOLVERS if solver is None else (solver,):
        found = SOLVERS[name](program, tolerance)
        if found.status in enough:
            return found
        ends.append(f"{name} ends with {found.status}")
        short = found if short is None and found.status == INACCURATE else short
    if short is None:
        raise NoAnswer("; ".join(ends))
    return short


def _clarabel(program: Program, tolerance: float, **settings: Any) -> Solution:
    import clarabel
    from scipy.sparse import csc_matrix

    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = tolerance
    for name, value in settings.items():
        setattr(chosen, name, value)
    cones = [clarabel.ZeroConeT(program.zero)] if program.zero else []
    cones += [clarabel.NonnegativeConeT(program.nonnegative), clarabel.PSDTriangleConeT(program.size)]
    count = len(program.objective)
    given = csc_matrix((count, count)), program.objective, csc_matrix(program.matrix), program.right
    found = clarabel.DefaultSolver(*given, cones, chosen).solve()
    status = {"Solved": OPTIMAL, "AlmostSolved": INACCURATE}.get(str(found.status), str(found.status))
    if status not in (OPTIMAL, INACCURATE) and np.all(np.isfinite(found.x)) and str(found.status) in STOPPED:
        status = INACCURATE if max(found.r_prim, found.r_dual) < SHORT else status
    return Solution(status, np.array(found.x), np.array(found.z))


STOPPED, SHORT = ("InsufficientProgress", "MaxIterations"), 1e-5
"""How Clarabel ends when it cannot reach its tolerance, and up to which residuals its point still counts for one."""


def _regularised(program: Program, tolerance: float) -> Solution:
    return _clarabel(
        program,
        tolerance,
        static_regularization_constant=1e-7,
        dynamic_regularization_delta=1e-6,
        iterative_refinement_max_iter=50,
        max_step_fraction=0.95,
    )


def _scs(program: Program, tolerance: float) -> Solution:
    nothing = np.full(0, np.nan)
    try:
        import scs
    except ImportError:
        return Solution("no such module", nothing, nothing)
    from scipy.sparse import csc_matrix

    # SCS packs the lower triangle, column by column
    columns, rows = np.tril_indices(program.size)
    linear = program.zero + program.nonnegative
    order = np.concatenate([np.arange(linear), linear + np.lexsort((columns, rows))])
    data = {"A": csc_matrix(program.matrix[order]), "b": program.right[order], "c": program.objective}
    cone = {"z": program.zero, "l": program.nonnegative, "s": [program.size]}
    accuracy = max(tolerance, 1e-7)
    solver = scs.SCS(data, cone, verbose=False, eps_abs=accuracy, eps_rel=accuracy, max_iters=50_000)
    found = solver.solve()
    value = found["info"]["status_val"]
    status = {1: OPTIMAL, 2: INACCURATE}.get(value, str(found["info"]["status"]))
    multipliers = np.empty_like(found["y"])
    multipliers[order] = found["y"]
    return Solution(status, found["x"], multipliers)


SOLVERS: dict[str, Callable[[Program, float], Solution]] = {
    "clarabel": _clarabel,
    "clarabel, regularised": _regularised,
    "scs": _scs,
}
