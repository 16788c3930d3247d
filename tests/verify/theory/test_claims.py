"""Every claim: its verdict is the recorded one, its two numbers are as it says, and its witness can be replayed."""

from __future__ import annotations

import json

import pytest

from kappaguard.rules.witness import Witness
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.theory.claim import Effort
from kappaguard.verify.theory.registry import claims

pytestmark = pytest.mark.solver

# What the mathematics says, besides the verdicts: numbers that must not drift.
TIGHTNESS = {
    "closed-form-cwtm": 1.0,
    "closed-form-cwmed": 1.0,
    "closed-form-gm": 1.0,
    "closed-form-meamed": 1.0,
    "closed-form-mda": 1.0,
    "closed-form-nnm-cwtm": 1.0,
    "coefficient-cwtm": 5 / 36,
    "universal-lower-bound": 1.0,
    "pivot": 1.0,
    "bias-variance": 0.5,
    "bias-variance-sharp": 1.0,
    "lemma-1-nnm": 0.5,
    "kappa-lambda-footnote": 81 / 52,
    "kappa-aragg-random": 12 / 13,
    "bucketing-fraction": 3 / 4,
}


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.name)
def test_claim(claim):
    steps = []
    finding = claim.run(Effort.QUICK, lambda done, total: steps.append((done, total)))
    assert finding.verdict == claim.expected
    assert finding.detail
    assert all(0 <= done <= total for done, total in steps)
    if claim.name in TIGHTNESS:
        assert finding.tightness == pytest.approx(TIGHTNESS[claim.name], rel=1e-5)
    if isinstance(finding.witness, Witness):
        assert replay(finding.witness).reproduces
    elif finding.witness is not None:
        assert json.loads(json.dumps(finding.witness, allow_nan=False)) == finding.witness


def test_the_numbers_are_of_claims_that_exist():
    assert set(TIGHTNESS) <= {claim.name for claim in claims()}
