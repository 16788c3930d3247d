"""Rounding is never a violation, and more than rounding always is one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.witness import fractions
from kappaguard.verify.guard.health import examine
from kappaguard.verify.judge.rounding import DOUBLE, ratio_beyond_rounding, tolerance_for
from kappaguard.verify.judge.subject import subject_of

from ..guard.health.rules import trimmed


def off_by(ulps):
    """The trimmed mean, off by so many roundings of the largest entry, with changing signs."""

    def rule(x, f):
        signs = np.where(np.arange(x.shape[1]) % 2, -1.0, 1.0)
        return trimmed(x, f) + ulps * DOUBLE * np.abs(x).max() * signs

    return rule


@pytest.mark.parametrize("ulps", [0, 1, -3, 8])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e9, -1e15])
@pytest.mark.parametrize("claim", [Fraction(0), Fraction(2, 5)])
def test_equal_honest_vectors_and_a_few_roundings(ulps, offset, claim):
    under = subject_of(off_by(ulps), 9, 2)
    x = np.full((9, 3), offset)
    x[7:] = offset + 1e3
    judgement = under.judge(under.witness(x, range(7), "test"))
    assert judgement.ratio <= claim
    if ulps and offset:
        # what the judgement protects from: the plain ratio is infinite
        assert judgement.witness.lower == math.inf


@pytest.mark.parametrize("ulps", [1, -3, 8])
def test_a_rule_with_roundings_is_healthy(ulps):
    assert not any(finding.refutes for finding in examine(subject_of(off_by(ulps), 9, 2), Fraction(1)).findings)


@pytest.mark.parametrize("ulps", [100, -100, 10**6])
@pytest.mark.parametrize("offset", [1.0, 1e9])
def test_more_than_roundings_is_a_violation(ulps, offset):
    under = subject_of(off_by(ulps), 9, 2)
    x = np.full((9, 1), offset)
    x[7:] = 2 * offset
    # what a rule is measured to be exact to is allowed; told that it should be exact, it is not
    assert under.inexact > 0
    assert under.judge(under.witness(x, range(7), "test")).ratio == 0
    strict = subject_of(off_by(ulps), 9, 2, tolerance=tolerance_for(9, 1))
    assert strict.inexact == 0
    assert strict.judge(strict.witness(x, range(7), "test")).ratio > 1


@pytest.mark.parametrize("offset", [0.0, 0.1, 1000.1, 1e7 + 0.3])
@pytest.mark.parametrize(("n", "f"), [(3, 1), (7, 2), (17, 4), (17, 8)])
def test_a_claim_that_is_attained_is_not_refuted_by_rounding(offset, n, f):
    """f/(n-2f) is attained by the trimmed mean at the paper's universal input; floats come out on either side."""
    under = subject_of(trimmed, n, f)
    tight = Fraction(f, n - 2 * f)
    x = np.full((n, 1), offset)
    x[n - f :] += 0.7
    judgement = under.judge(under.witness(x, range(f, n), "test"))
    assert judgement.ratio <= tight
    # and it is not given away either
    assert float(judgement.ratio) == pytest.approx(float(tight), rel=1e-5)


def test_attained_claims_do_come_out_above_in_floats():
    """Without the allowance some of the inputs above would be false alarms."""
    above = 0
    for n, f in ((3, 1), (7, 2), (17, 4), (17, 8)):
        under = subject_of(trimmed, n, f)
        for offset in (0.1, 1000.1, 1e7 + 0.3):
            x = np.full((n, 1), offset)
            x[n - f :] += 0.7
            above += under.judge(under.witness(x, range(f, n), "test")).witness.lower > Fraction(f, n - 2 * f)
    assert above


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 1e6]), st.sampled_from([1e-3, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_stable_rule_is_within_its_claim(seed, offset, size):
    """Any rule that satisfies the claim exactly, moved by tau/2 in input and output, is not refuted."""
    generator = np.random.default_rng(seed)
    n, f, d = 7, 2, int(generator.integers(1, 4))
    x = offset + size * generator.integers(-4, 5, (n, d)).astype(float)
    rows = fractions(x)
    tolerance = tolerance_for(n, d)
    tau = tolerance * max((abs(value) for row in rows for value in row), default=Fraction(0))
    moved = [[value + tau / 2 * int(generator.integers(-1, 2)) for value in row] for row in rows]
    # the exact trimmed mean of the moved input, whose worst case f/(n-2f) is proved
    exact = [sum(sorted(column)[f : n - f]) / (n - 2 * f) for column in zip(*moved, strict=True)]
    output = [value + tau / 2 * int(generator.integers(-1, 2)) for value in exact]
    subset = sorted(generator.permutation(n)[: n - f].tolist())
    assert ratio_beyond_rounding(output, rows, subset, tolerance) <= Fraction(f, n - 2 * f)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_without_tolerance_it_is_the_ratio(seed):
    generator = np.random.default_rng(seed)
    x = generator.integers(-9, 10, (5, 2))
    output = generator.integers(-9, 10, 2)
    honest = x[1:]
    error = ((output - honest.mean(axis=0)) ** 2).sum()
    spread = ((honest - honest.mean(axis=0)) ** 2).sum(axis=1).mean()
    found = ratio_beyond_rounding(fractions(output[None])[0], fractions(x), range(1, 5), Fraction(0))
    if spread:
        assert float(found) == pytest.approx(error / spread, rel=1e-12)
    else:
        assert found == (math.inf if error else 0)


def test_single_precision_is_judged_as_such():
    def single(x, f):
        return trimmed(x.astype(np.float32), f)

    under = subject_of(single, 9, 2)
    assert under.epsilon == 2.0**-23
    x = np.full((9, 1), 0.1)
    x[7:] = 1e6
    judgement = under.judge(under.witness(x, range(7), "test"))
    assert judgement.witness.lower == math.inf
    assert judgement.ratio == 0


def test_a_tolerance_of_its_own():
    def iterated(x, f):
        return trimmed(x, f) + 1e-7 * np.abs(x).max()

    assert examine(subject_of(iterated, 9, 2), Fraction(1)).witness is not None
    assert examine(subject_of(iterated, 9, 2, tolerance=Fraction(1, 10**6)), Fraction(1)).witness is None


@pytest.mark.parametrize("rule", ["krum", "cwtm", "average"])
def test_exact_rules_are_given_no_allowance(rule):
    under = subject_of(rule, 5, 1)
    x = np.full((5, 1), 1.0)
    x[4] = 1 + 2.0**-50
    judgement = under.judge(under.witness(x, range(4), "test"))
    assert judgement.ratio == (math.inf if rule == "average" else 0)
