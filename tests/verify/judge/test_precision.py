"""The precision of a foreign rule is measured: narrow floats inside and outside, iterations, and what is neither."""

from __future__ import annotations

import importlib.util
from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.witness import Witness, fractions
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.course import check_claim
from kappaguard.verify.guard.health import examine
from kappaguard.verify.judge.precision import EPSILONS, _rounded
from kappaguard.verify.judge.rounding import DOUBLE
from kappaguard.verify.judge.subject import subject_of

from ..guard.finders import no_finder

pytestmark = pytest.mark.solver


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def inside(name):
    def rule(x, f):
        return trimmed(_rounded(np.asarray(x, dtype=float), name), f)

    return rule


def smoothed(x, f, nu=1e-6):
    """The geometric median by 60 steps of smoothed Weiszfeld, as RFA has it (Pillutla, Kakade, Harchaoui)."""
    z = np.median(x, axis=0)
    for _ in range(60):
        weights = 1 / np.maximum(nu, np.linalg.norm(x - z, axis=1))
        z = (weights[:, None] * x).sum(axis=0) / weights.sum()
    return z


def huber(x, f, epsilon=1e-12):
    """A coordinate-wise Huber location with a guarded denominator."""
    z = np.median(x, axis=0)
    scale = np.median(np.abs(x - z), axis=0) + epsilon
    for _ in range(40):
        weights = np.minimum(1, scale / (np.abs(x - z) + epsilon))
        z = (weights * x).sum(axis=0) / weights.sum(axis=0)
    return z


@pytest.mark.parametrize("name", EPSILONS)
def test_narrow_floats_inside_are_seen_and_allowed(name):
    """It returns float64, and no digit of the input beyond these floats matters."""
    under = subject_of(inside(name), 9, 2)
    assert under.epsilon == EPSILONS[name]
    verdict = check_claim(ClaimCheck(inside(name), 9, 2, "f/(n-2*f)"), finder=no_finder)
    # in exact arithmetic float32 is traced; what the floats do is a finding beside the proof
    assert verdict.verdict == ("proved" if name == "float32" else "open")
    assert any(f"the precision of {name}" in finding.message for finding in verdict.findings)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_narrow_floats_that_come_out(name):
    import torch

    def rule(x, f):
        return torch.tensor(trimmed(x, f)).to(getattr(torch, name))

    assert subject_of(rule, 9, 2).epsilon == EPSILONS[name]
    verdict = check_claim(ClaimCheck(rule, 9, 2, "f/(n-2*f)"), finder=no_finder).verdict
    # as above: in exact arithmetic float32 is traced
    assert verdict == ("proved" if name == "float32" else "open")


@pytest.mark.parametrize("name", EPSILONS)
def test_narrow_floats_are_no_excuse(name):
    """The average in few digits is the average."""

    def rule(x, f):
        return _rounded(np.asarray(x, dtype=float), name).mean(axis=0)

    assert check_claim(ClaimCheck(rule, 9, 2, "1000"), finder=no_finder).verdict == "refuted"


def selection(dtype, count=None):
    """The mean of the vectors with the least Krum scores, whose distances come from a Gram matrix in such floats."""

    def rule(x, f):
        y = x.astype(dtype)
        products = y @ y.T
        squares = np.diag(products)
        distances = np.maximum(squares[:, None] + squares - 2 * products, 0)
        scores = np.sort(distances, axis=1)[:, 1 : len(x) - f].sum(axis=1)
        return x[np.argsort(scores, kind="stable")[: count or len(x) - f]].mean(axis=0)

    return rule


@pytest.mark.parametrize("count", [1, 2, None])
@pytest.mark.parametrize("n", [3, 10, 17])
def test_decisions_in_float32_are_seen(n, count):
    """What is selected comes out with all its digits, and rounding the input moves these."""
    f = (n - 1) // 4 or 1
    assert subject_of(selection(np.float32, count), n, f).epsilon == EPSILONS["float32"]
    assert subject_of(selection(np.float64, count), n, f).epsilon == DOUBLE


@pytest.mark.parametrize("rule", ["krum", "cwmed", "gm", "nnm+krum", "nnm+cwtm", "mda", "smea", "caf"])
def test_decisions_in_float64_are_not_taken_for_less(rule):
    called = kg.rule(rule, f=2)
    assert subject_of(lambda x, f: called(x), 9, 2).epsilon == DOUBLE


def test_a_decision_in_float32_is_no_infinite_ratio():
    """Two vectors next to each other in float32, whose distance a Gram matrix loses: the selection may take either."""
    x = np.full((10, 1), 2903.8656005859375)
    x[0] = 2903.86572265625
    witness = Witness("a rule", 10, 2, "trace", tuple(range(2, 10)), fractions(x), Fraction(0), Fraction(0))
    narrow, wide = (subject_of(selection(dtype, 1), 10, 2).judge(witness) for dtype in (np.float32, np.float64))
    assert narrow.output == tuple(x[0])
    assert narrow.witness.lower == np.inf
    assert narrow.ratio == 0
    assert wide.output == tuple(x[1])


@pytest.mark.parametrize("rule", [lambda x, f: np.zeros(x.shape[1]), lambda x, f: np.sign(np.median(x, axis=0))])
def test_an_output_that_never_moves_has_no_digits_to_lose(rule):
    under = subject_of(rule, 9, 2)
    assert under.epsilon == DOUBLE
    assert examine(under, Fraction(1000)).witness is not None


def test_the_rounding_to_bfloat16_is_to_the_nearest_even():
    """By hand: 1 + 2^-8 is half way between 1 and 1 + 2^-7, and 1 is even."""
    x = np.array([[1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-20, 1 + 3 * 2.0**-8, -(1 + 2.0**-8)]])
    assert _rounded(x, "bfloat16").tolist() == [[1.0, 1 + 2.0**-7, 1 + 2.0**-6, -1.0]]


@pytest.mark.parametrize("rule", [smoothed, huber])
def test_a_rule_that_iterates_is_exact_to_a_tolerance_and_not_refuted(rule):
    under = subject_of(rule, 9, 2)
    assert 0 < under.inexact <= 1e-4
    verdict = check_claim(ClaimCheck(rule, 9, 2, "20"), finder=no_finder)
    assert verdict.verdict == "open"
    (said,) = (finding.message for finding in verdict.findings if finding.check == "precision")
    assert said.startswith(f"exact to {under.inexact:.0e} relative; with that tolerance kappa* >= ")
    assert "--tolerance" in said
    # what the user allows is not told to them again
    stated = check_claim(ClaimCheck(rule, 9, 2, "20", tolerance=Fraction(1, 10**4)), finder=no_finder)
    assert not any(finding.check == "precision" for finding in stated.findings)
    # and told that it should be exact, it is not
    strict = check_claim(ClaimCheck(rule, 9, 2, "20", tolerance=Fraction(0)), finder=no_finder)
    assert strict.verdict == "refuted"


def test_what_grows_with_the_adversary_is_no_iteration():
    """An error of 1e-7 of the largest entry: the adversary's entries may be as large as it likes."""

    def drawn(x, f):
        return trimmed(x, f) + 1e-7 * np.abs(x).max()

    assert subject_of(drawn, 9, 2).inexact == 0
    assert check_claim(ClaimCheck(drawn, 9, 2, "20"), finder=no_finder).verdict == "refuted"


def test_a_slow_rule_is_shown_less(monkeypatch):
    import kappaguard.verify.judge.precision as measured

    calls = []

    def rule(x, f):
        calls.append(x.shape)
        return trimmed(x, f)

    check_claim(ClaimCheck(rule, 9, 2, "20"), finder=no_finder)
    quick = len(calls)
    monkeypatch.setattr(measured, "SLOW", 0.0)
    monkeypatch.setattr("kappaguard.verify.judge.subject.SLOW", 0.0)
    calls.clear()
    check_claim(ClaimCheck(rule, 9, 2, "20"), finder=no_finder)
    assert len(calls) < 150 < quick
