"""A program that one solver gives up on is asked of the next; what no solver answers decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.search.exact import conic
from kappaguard.search.exact.conic import INACCURATE, OPTIMAL, NoAnswer, Program, Solution, packed, solve, unpacked
from kappaguard.verify.theory.claim import Effort
from kappaguard.verify.theory.packs.fixing_by_mixing import descent_bound, dgd_convergence, dshb_convergence
from kappaguard.verify.theory.performance.descent import Descent

pytestmark = pytest.mark.solver

MATRIX = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 1.0]])


def largest_eigenvalue() -> Program:
    """The least t for which t I - MATRIX is semidefinite; its multipliers are the projection on the eigenvector."""
    return Program(np.ones(1), -packed(np.eye(3))[:, None], -packed(MATRIX), 0, 0, 3)


def ending(ends: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let solvers end as said; the list of those that are asked."""
    asked: list[str] = []

    def make(name: str):
        def answer(program: Program, tolerance: float) -> Solution:
            asked.append(name)
            return Solution(ends[name], np.array([float(len(asked))]), np.zeros(0))

        return answer

    monkeypatch.setattr(conic, "SOLVERS", {name: make(name) for name in ends})
    return asked


@pytest.mark.parametrize("solver", conic.SOLVERS)
def test_every_solver_knows_the_largest_eigenvalue(solver):
    found = solve(largest_eigenvalue(), solver)
    values, vectors = np.linalg.eigh(MATRIX)
    assert found.status == OPTIMAL
    assert found.point[0] == pytest.approx(values[-1], abs=1e-5)
    projection = np.outer(vectors[:, -1], vectors[:, -1])
    assert unpacked(found.multipliers, 3) == pytest.approx(projection, abs=1e-4)


def test_packing_keeps_inner_products():
    other = np.diag([1.0, 2.0, 3.0]) + np.fliplr(np.diag([1.0, 0.0, 1.0]))
    assert packed(MATRIX) @ packed(other) == pytest.approx(np.sum(MATRIX * other))
    assert unpacked(packed(MATRIX), 3) == pytest.approx(MATRIX)


def test_the_next_is_asked_where_one_gives_up(monkeypatch):
    asked = ending({"one": "NumericalError", "two": OPTIMAL, "three": OPTIMAL}, monkeypatch)
    assert solve(largest_eigenvalue()).status == OPTIMAL
    assert asked == ["one", "two"]


def test_an_answer_short_of_the_tolerance_is_the_last_resort(monkeypatch):
    asked = ending({"one": INACCURATE, "two": "failed"}, monkeypatch)
    found = solve(largest_eigenvalue())
    assert (found.status, found.point[0], asked) == (INACCURATE, 1.0, ["one", "two"])
    ending({"one": "failed", "two": "cold feet"}, monkeypatch)
    with pytest.raises(NoAnswer, match="one ends with failed; two ends with cold feet"):
        solve(largest_eigenvalue())


def test_a_solver_that_is_named_is_the_only_one(monkeypatch):
    asked = ending({"one": "failed", "two": OPTIMAL}, monkeypatch)
    with pytest.raises(NoAnswer, match="one"):
        solve(largest_eigenvalue(), "one")
    assert asked == ["one"]


def test_without_error_the_aggregates_are_the_gradients():
    """Substituted, not asked for: the two are equal to the last bit."""
    run = Descent(3, 1, 1.5).value(0.0, 1.0)
    assert np.array_equal(run.gradients, run.aggregates)
    assert run.status == OPTIMAL


def test_no_claim_depends_on_a_solver(monkeypatch):
    """The statements are proved or refuted by algebra and runs: solvers that all give up change no verdict."""
    ending({"one": "failed"}, monkeypatch)
    claims = (*dgd_convergence.CLAIMS, *dshb_convergence.CLAIMS, descent_bound.CLAIM)
    for claim in claims:
        assert claim.run(Effort.QUICK, lambda done, total: None).verdict == claim.expected, claim.name
