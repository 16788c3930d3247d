"""The claims about whole runs: the verdict, the two numbers of each, and what tampering does to the proofs."""

from __future__ import annotations

import json

import pytest
import sympy

from kappaguard.verify.theory.algebra import StepFails
from kappaguard.verify.theory.claim import Claim, Effort, Finding
from kappaguard.verify.theory.packs.fixing_by_mixing import (
    aggregation_error,
    byzantine_lower_bound,
    descent_bound,
    dgd_convergence,
    dgd_nnm,
    dshb_convergence,
    dshb_nnm,
    momentum_deviation,
    momentum_drift,
    random_output,
)
from kappaguard.verify.theory.performance.run import from_json, replay

pytestmark = pytest.mark.solver

CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for module in (
        aggregation_error,
        byzantine_lower_bound,
        dgd_convergence,
        dgd_nnm,
        dshb_convergence,
        momentum_drift,
        random_output,
    )
    for claim in module.CLAIMS
} | {module.CLAIM.name: module.CLAIM for module in (descent_bound, dshb_nnm, momentum_deviation)}

NUMBERS = {
    "proposition-1": (1 / 9, 1 / 17),
    "proposition-1-improved": (4 / 9, 4 / 9),
    "theorem-1": (2.99**2, 4 + 2 * 2.99**2 / 12),
    "theorem-1-short": (0.9, 1.0),
    "theorem-1-corrected": (9.0, 9.018),
    "corollary-1": (72 * 4 / 13, 144 * 4 / 17),
    "corollary-1-constant": (36.0, 32 + 4 * 18 / 100),
    "corollary-1-constant-corrected": (36.0, 36 + 4 * 18 / 1000),
    "equation-7": (1.0, 1 + 2 * 0.5 / 200),
    "homogeneous": (1.0, 1.0),
    "exact-price": (4 / 9, 4 / 9),
    "momentum-drift": (4.0, 9.012),
    "momentum-drift-sharp": (2.0, 2.0),
    "aggregation-error": (1.01989, 3.06006),
    "aggregation-error-restated": (1.001e6, 6.00605e6),
    "aggregation-error-sharp": (2.0, 2.0),
    "momentum-deviation": (0.922857, 1.0),
    "descent-bound": (1.458858, 13 / 6),
    "theorem-2": (0.0533, 1.0),
    "theorem-2-improved": (0.420806, 1.0),
    "corollary-2": (288 * 4 / 13, 576 * 4 / 17),
}


def run(name: str) -> Finding:
    reported: list[tuple[int, int]] = []
    finding = CLAIMS[name].run(Effort.QUICK, lambda done, total: reported.append((done, total)))
    assert all(0 < done <= total for done, total in reported)
    return finding


def test_every_claim_has_its_numbers():
    assert set(NUMBERS) == set(CLAIMS)


@pytest.mark.parametrize("name", NUMBERS)
def test_verdict_and_numbers(name):
    finding = run(name)
    assert finding.verdict == CLAIMS[name].expected
    assert (finding.computed, finding.stated) == pytest.approx(NUMBERS[name], rel=2e-2 if "theorem-2" in name else 1e-3)


def test_the_witness_of_theorem_1_can_be_replayed():
    finding = run("theorem-1")
    assert isinstance(finding.witness, dict)
    record = from_json(json.loads(json.dumps(finding.witness)))
    outcome = replay(record)
    assert float(outcome.gradient_squared) == finding.computed
    assert float(outcome.bound(record.kappa, 4, 4)) == finding.stated


@pytest.mark.parametrize(("factor", "multiplier"), [("7/2", "1/8"), ("4", "1/10"), ("37/10", "31/200"), ("4", "1/6")])
def test_a_wrong_certificate_of_the_corrected_theorem_is_rejected(factor, multiplier):
    with pytest.raises(StepFails):
        dgd_convergence._one_step(sympy.Integer(9), sympy.Rational(factor), sympy.Rational(multiplier))


@pytest.mark.parametrize("solver", ["clarabel", "clarabel, regularised", "scs"])
def test_the_program_of_the_descent_bound_on_every_solver(solver):
    assert descent_bound.smallest_coefficient(solver) == pytest.approx(1.458858, abs=2e-3)


@pytest.mark.parametrize("h", [1e-3, 1 / 24, 1.0, 10.0])
def test_no_step_exceeds_the_worst_ratio_of_the_deviation(h):
    worst = momentum_deviation.worst_ratio(h)
    assert worst < 1
    for delta in (-1.0, 0.3, 1.0, 4.0):
        for gradient in (-1.0, 0.5, 2.0):
            for error in (-2.0, 0.1, 1.0):
                exact, bound = momentum_deviation.one_step(h, delta, gradient, error)
                assert exact <= worst * bound * (1 + 1e-12)


@pytest.mark.parametrize(("n", "f"), [(3, 1), (5, 2), (17, 4), (17, 8), (100, 1)])
def test_two_worlds_by_hand(n, f):
    """The least of the larger squared gradient over a fine grid of outputs."""
    worlds = byzantine_lower_bound.worlds_of_ours(n, f)
    spread = float(worlds.heterogeneity(0))
    shift = f / (n - f)
    grid = [shift * (step / 500 - 1) for step in range(1001)]
    least = min(max((theta + shift) ** 2, (theta - shift) ** 2) for theta in grid) / spread
    assert least == pytest.approx(f / (n - 2 * f))
    assert least == pytest.approx(4 * float(byzantine_lower_bound.worlds_of_the_paper(n, f).least_epsilon()))
