"""Exact kappa*: both sides are proofs, they meet, and brute force knows nothing better."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.judge.result import Status

pytestmark = pytest.mark.solver

RULES = ["cwtm", "cwmed", "meamed", "gm", "krum", "mda"]
BOUNDED = [*RULES, "multikrum"]
SMALL = [(n, f) for n in range(3, 10) for f in range(1, (n - 1) // 2 + 1)]
LARGE = [(10, 4), (13, 5), (16, 1), (16, 7), (17, 4), (17, 8)]


@pytest.mark.parametrize(("n", "f"), SMALL + LARGE)
@pytest.mark.parametrize("rule", RULES)
def test_witness_and_certificate_meet(rule, n, f):
    result = kg.exact(rule, n=n, f=f)
    assert result.status is Status.EXACT
    assert 0 <= result.gap <= 1e-6
    judged = replay(result.witness)
    assert judged.reproduces
    # two judges that know nothing of each other, nor of the search: what one refutes the other does not prove
    assert judged.lower <= check(result.certificate).upper <= judged.lower * (1 + Fraction(2, 10**6))


@pytest.mark.parametrize("rule", BOUNDED)
@pytest.mark.parametrize(("n", "f"), [(4, 1), (5, 1), (5, 2), (6, 2)])
def test_no_small_integer_input_is_worse(rule, n, f):
    """All inputs of small integers on a line, every S: the largest ratio is at most the certified bound."""
    result = kg.exact(rule, n=n, f=f)
    values = np.array(list(itertools.combinations_with_replacement(range(4), n)), dtype=float)
    x = values[:, :, None]
    output = kg.rule(rule, f=f)(x)[:, 0]
    worst = 0.0
    for subset in itertools.combinations(range(n), n - f):
        honest = values[:, subset]
        mean, variance = honest.mean(axis=1), honest.var(axis=1)
        error = (output - mean) ** 2
        assert np.all(error[variance == 0] <= 1e-20)
        worst = max(worst, float(np.max(error[variance > 0] / variance[variance > 0])))
    assert worst <= float(result.upper) * (1 + 1e-9)
    assert worst > 0


@pytest.mark.parametrize("rule", BOUNDED)
@pytest.mark.parametrize(("n", "f", "d"), [(5, 1, 3), (7, 3, 2), (9, 3, 4)])
def test_no_random_input_is_worse(rule, n, f, d):
    result = kg.exact(rule, n=n, f=f)
    generator = np.random.default_rng([n, f, d])
    x = generator.standard_normal((4000, n, d)) * 10.0 ** generator.uniform(-1, 1, (4000, n, 1))
    output = kg.rule(rule, f=f)(x)
    honest = x[:, : n - f]
    mean = honest.mean(axis=1)
    ratio = ((output - mean) ** 2).sum(-1) / ((honest - mean[:, None]) ** 2).sum((-2, -1)) * (n - f)
    assert ratio.max() <= float(result.upper) * (1 + 1e-9)


@pytest.mark.parametrize("rule", ["krum", "cwtm", "cwmed", "gm", "meamed"])
def test_closed_forms_stand_between_universal_bound_and_paper(rule):
    from kappaguard.rules.base.expression import evaluate

    for n, f in SMALL:
        result = kg.exact(rule, n=n, f=f)
        assert result.upper >= Fraction(f, n - 2 * f) or result.upper == pytest.approx(f / (n - 2 * f))
        claim = kg.rule(rule, f=f).claim
        if claim is not None:
            assert result.upper <= evaluate(claim.expression, n, f)


def test_large_numbers_of_workers():
    for rule, expected in [("cwtm", 0.5), ("cwmed", 499 / 251), ("gm", 2.0), ("meamed", 4 * 250 * 501 / (251 * 750))]:
        result = kg.exact(rule, n=1000, f=250)
        assert result.status is Status.EXACT
        assert float(result.upper) == pytest.approx(expected, rel=1e-9)


def test_average_has_no_coefficient():
    result = kg.exact("average", n=5, f=1)
    assert result.status is Status.INFINITE
    assert result.lower == math.inf
    assert replay(result.witness).reproduces


def test_nnm_in_front_of_the_trimmed_mean():
    result = kg.exact("nnm+cwtm", n=17, f=4)
    assert result.status is Status.EXACT
    assert result.upper == Fraction(16, 13) * (Fraction(4, 9) + 1)
    assert replay(result.witness).lower <= check(result.certificate).upper
    assert replay(result.witness).reproduces


@pytest.mark.parametrize(("n", "f", "lemma"), [(17, 4, "lemma-1-nnm-directions"), (5, 1, "lemma-1-nnm-sharp")])
def test_nnm_is_bracketed_by_a_lemma(n, f, lemma):
    """The better of two forms of Lemma 1, with the kappa* of the rule behind."""
    result = kg.exact("nnm+gm" if n == 5 else "nnm+krum", n=n, f=f)
    behind = kg.exact("gm" if n == 5 else "krum", n=n, f=f).upper
    forms = Fraction(4 * f, n - f) * (behind + 1), Fraction(4 * f, (n - f) ** 2) * (n + Fraction(n + f, 2) * behind)
    assert result.upper == min(forms)
    assert lemma in result.proof
    assert result.lower <= result.upper


@pytest.mark.parametrize("rule", BOUNDED)
def test_without_byzantine_vectors(rule):
    result = kg.exact(rule, n=7, f=0)
    assert result.status is Status.EXACT
    assert result.upper == 0 or rule in ("cwmed", "gm", "krum")


@pytest.mark.parametrize(("n", "f"), [(1, 0), (4, 2), (5, -1)])
def test_wrong_requests(n, f):
    with pytest.raises(InputError):
        kg.exact("krum", n=n, f=f)


def test_three_vectors_behind_nnm_and_krum():
    """The bound of the argument for n = 3, against a naive second implementation on many inputs."""
    result = kg.exact("nnm+krum", n=3, f=1)
    assert result.upper == pytest.approx(4, rel=1e-6)
    assert 3.999 < result.lower <= 4
    generator = np.random.default_rng(0)
    largest = 0.0
    for _ in range(4000):
        a, b = generator.normal(size=(2, 2))
        z = a + generator.normal(size=2) * np.exp(generator.normal())
        x = np.array([a, b, z])
        gaps = np.linalg.norm(x[:, None] - x[None], axis=2)
        mixed = np.array([(x[i] + x[np.argsort(gaps[i])[1]]) / 2 for i in range(3)])
        apart = np.linalg.norm(mixed[:, None] - mixed[None], axis=2) + np.diag([np.inf] * 3)
        output = mixed[np.argmin(apart.min(axis=1))]
        largest = max(largest, np.sum((output - (a + b) / 2) ** 2) / (np.sum((a - b) ** 2) / 4))
    assert 2 < largest <= 4
