"""A program that one solver gives up on is asked of the next; what no solver answers decides nothing."""

from __future__ import annotations

import cvxpy
import numpy as np
import pytest

from kappaguard.search.exact import solvers
from kappaguard.search.exact.descent import Descent
from kappaguard.search.exact.solvers import NoAnswer, solve
from kappaguard.verify.claims import descent_bound, dgd_convergence, dshb_convergence
from kappaguard.verify.claims.claim import Effort

pytestmark = pytest.mark.solver


def program() -> tuple[cvxpy.Problem, cvxpy.Variable]:
    """The least x above 2."""
    x = cvxpy.Variable()
    return cvxpy.Problem(cvxpy.Minimize(x), [x >= 2]), x


def failing(names: set[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let solvers raise as they do where they meet no interior; the list of those that were asked."""
    asked: list[str] = []
    usual = cvxpy.Problem.solve

    def ask(self: cvxpy.Problem, solver: str, **options: object) -> object:
        asked.append(solver)
        if solver in names:
            raise cvxpy.error.SolverError(f"Solver '{solver}' failed.")
        return usual(self, solver=solver, **options)

    monkeypatch.setattr(cvxpy.Problem, "solve", ask)
    return asked


def test_the_first_solver_is_enough():
    problem, x = program()
    assert solve(problem) == "optimal"
    assert float(x.value) == pytest.approx(2)


def test_the_second_is_asked_where_the_first_gives_up(monkeypatch):
    asked = failing({"CLARABEL"}, monkeypatch)
    problem, x = program()
    assert solve(problem) == "optimal"
    assert asked == ["CLARABEL", "SCS"]
    assert float(x.value) == pytest.approx(2, abs=1e-5)


def test_an_inaccurate_answer_is_the_last_resort(monkeypatch):
    ends = {"CLARABEL": "optimal_inaccurate", "SCS": "failed"}
    monkeypatch.setattr(solvers, "_attempt", lambda problem, solver, options: ends[solver])
    assert solve(None) == "optimal_inaccurate"
    ends["CLARABEL"] = "failed"
    with pytest.raises(NoAnswer, match="CLARABEL ends with failed; SCS ends with failed"):
        solve(None)


def test_a_solver_that_is_named_is_the_only_one(monkeypatch):
    asked = failing({"CLARABEL"}, monkeypatch)
    with pytest.raises(NoAnswer, match="CLARABEL"):
        solve(program()[0], "CLARABEL")
    assert asked == ["CLARABEL"]


def test_without_error_the_aggregates_are_the_gradients():
    """Substituted, not asked for: the two are equal to the last bit."""
    run = Descent(3, 1, 1.5).value(0.0, 1.0)
    assert np.array_equal(run.gradients, run.aggregates)
    assert run.status == "optimal"


def test_no_claim_depends_on_a_solver(monkeypatch):
    """The statements are proved or refuted by algebra and runs: solvers that all give up change no verdict."""
    failing({"CLARABEL", "SCS"}, monkeypatch)
    claims = (*dgd_convergence.CLAIMS, *dshb_convergence.CLAIMS, descent_bound.CLAIM)
    for claim in claims:
        assert claim.check(Effort.QUICK, lambda done, total: None).verdict == claim.expected, claim.name
