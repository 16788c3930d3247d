"""A worker that a rule trusts is in every set S: no search, health check or judge makes an alarm of an input where the
adversary is that worker."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.names import rule
from kappaguard.search.arena import Arena
from kappaguard.verify.judge.subject import subject_of

pytestmark = pytest.mark.solver


@pytest.mark.parametrize("name", ["nna", "nna(pivot=3)"])
def test_the_search_keeps_to_sets_with_the_trusted_worker(name):
    upper = kg.exact(name, 7, 2).upper
    found = kg.search(name, 7, 2, evaluations=1500, seed=0)
    assert 0 < found.lower <= upper
    assert rule(name, f=2).trusted in found.witness.subset


def test_a_true_claim_is_no_alarm_and_a_false_one_is():
    upper = kg.exact("nna", 7, 2).upper
    verdict = kg.check("nna", 7, 2, float(upper) * 1.01, witnesses=None)
    assert verdict.verdict == "proved"
    assert not {finding.check for finding in verdict.findings} & {"zero-variance", "smallest"}
    refuted = kg.check("nna", 7, 2, float(upper) * 0.9, witnesses=None)
    assert refuted.verdict == "refuted"
    assert 0 in refuted.witness.subset


def test_an_input_where_the_adversary_is_trusted_proves_nothing():
    subject = subject_of("nna", 5, 1)
    x = [[Fraction(100)]] + [[Fraction(1)]] * 4
    assert subject.judge(subject.witness(np.array(x, dtype=object), [1, 2, 3, 4], "hand")).ratio == 0


def test_rules_that_trust_nobody_are_searched_as_before():
    assert Arena(rule("krum", f=1), 5, 1).trusted is None
    assert kg.search("monna", 7, 2, evaluations=1500, seed=0).lower == float("inf")
