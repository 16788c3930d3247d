"""Conic programs that one solver may give up on: the next one is asked before anybody is told that there is no answer.

Which operations a solver's linear algebra rounds, and how, depends on the processor: a program that is solved on one
machine ends in an error, or short of the tolerance, on another.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

SOLVERS = ("CLARABEL", "SCS")
"""An interior-point method, and a first-order one that does not need an interior."""
OPTIONS: dict[str, dict[str, Any]] = {"SCS": {"eps_abs": 1e-7, "eps_rel": 1e-7, "max_iters": 50_000}}


class NoAnswer(ArithmeticError):
    """No solver could solve a program: this says something about the solvers and nothing about the program."""


def solve(
    problem: Any,
    solver: str | None = None,
    options: Mapping[str, dict[str, Any]] | None = None,
    enough: tuple[str, ...] = ("optimal",),
) -> str:
    """Solve a program of cvxpy by the first solver that ends with ``enough``, and return how it ended.

    Where none does, an answer short of the tolerance counts (``optimal_inaccurate``); without that it is ``NoAnswer``.
    With ``solver`` only that one is asked.
    """
    settings = OPTIONS if options is None else options
    asked = SOLVERS if solver is None else (solver,)
    ends: dict[str, str] = {}
    for name in asked:
        ends[name] = _attempt(problem, name, settings.get(name, {}))
        if ends[name] in enough:
            return ends[name]
    for name in (name for name in asked if ends[name] == "optimal_inaccurate"):
        # the variables hold what the last solver left in them
        return ends[name] if name == asked[-1] else _attempt(problem, name, settings.get(name, {}))
    raise NoAnswer("; ".join(f"{name} ends with {end}" for name, end in ends.items()))


def _attempt(problem: Any, solver: str, options: dict[str, Any]) -> str:
    import cvxpy

    with warnings.catch_warnings():
        # a solver that stops short of its tolerance says so in the status
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver, **options)
        except (cvxpy.error.SolverError, ArithmeticError) as error:
            return str(error).partition("\n")[0][:200]
    return str(problem.status)
