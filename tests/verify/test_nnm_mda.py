"""MDA after NNM: the two facts that its certificates stand on, and the brackets."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.verify.certified.rejected import Rejected
from kappaguard.verify.checker import check
from kappaguard.verify.replay import replay

pytestmark = pytest.mark.solver

PAIRS = [(3, 1), (5, 2), (6, 2), (7, 3), (9, 4), (11, 3)]


def mixed(x, f):
    """NNM as the paper defines it."""
    distances = np.linalg.norm(x[:, None] - x[None], axis=2)
    return np.array([x[np.argsort(row, kind="stable")[: len(x) - f]].mean(axis=0) for row in distances])


def inputs(n, f, count):
    """Random ones of many scales and clusters, and honest vectors far out with Byzantine ones opposite."""
    generator = np.random.default_rng([n, f])
    for index in range(count):
        d = int(generator.integers(1, 4))
        x = generator.normal(size=(n, d)) * np.exp(generator.normal(size=(n, 1)) * (index % 4))
        if index % 3 == 0:
            x = np.round(generator.normal(size=(3, d)) * 2)[generator.integers(0, 3, n)] + 1e-3 * x
        if index % 5 == 0:
            honest = x[: n - f]
            x[n - f :] = honest[0] + generator.uniform(0.5, 1.0) * (honest[0] - honest[1:].mean(axis=0))
        yield x


@pytest.mark.parametrize(("n", "f"), PAIRS)
def test_honest_mixed_vectors_are_near_the_mean_and_each_other(n, f):
    around = apart = 0.0
    for x in inputs(n, f, 400):
        honest = x[: n - f]
        mean = honest.mean(axis=0)
        variance = ((honest - mean) ** 2).sum() / (n - f)
        y = mixed(x, f)[: n - f]
        around = max(around, ((y - mean) ** 2).sum() / (n - f) / variance)
        apart = max(apart, ((y[:, None] - y[None]) ** 2).sum(axis=2).max() / variance)
    assert 0.3 * 4 * f / (n - f) < around <= 4 * f / (n - f) * (1 + 1e-9)
    assert 0.1 * 4 * (f + 1) ** 2 / (n - f) < apart <= 4 * (f + 1) ** 2 / (n - f) * (1 + 1e-9)


def test_the_squares_of_the_coefficients():
    """The two cases at the end of the proof, over all sizes up to f = 12."""
    for f in range(1, 13):
        for p in range(f + 1):
            for q in range(f + 1 - p):
                for r in range(f + 1 - p - q):
                    squares = p * p + q * q + (p + r) + (q + r)
                    squares += 2 * p * (q + r > 0) + 2 * q * (p + r > 0)
                    roots = (p * p + p) ** 0.5 + (q * q + q) ** 0.5
                    assert roots + squares**0.5 <= 2 * f + 2 + 1e-12


@pytest.mark.parametrize(("n", "f"), [(7, 2), (16, 6), (17, 6)])
def test_the_bracket_is_at_most_four(n, f):
    result = kg.exact("nnm+mda", n=n, f=f)
    assert check(result.certificate).upper == result.upper
    assert replay(result.witness).reproduces
    assert result.upper <= 4 * result.lower
    assert result.upper <= 4 * f / (n - f) * (kg.exact("mda", n=n, f=f).upper + 1) * (1 + 1e-6)


def test_no_random_input_is_worse():
    upper = float(kg.exact("nnm+mda", n=6, f=2).upper)
    rule = kg.rule("nnm+mda", f=2)
    for x in inputs(6, 2, 500):
        honest = x[:4]
        mean = honest.mean(axis=0)
        assert ((rule(x) - mean) ** 2).sum() <= upper * ((honest - mean) ** 2).sum() / 4 * (1 + 1e-9)


@pytest.mark.parametrize("change", [("spread", "-1"), ("widest", "1000"), ("spread", "0"), ("out-out", "1")])
def test_tampered_multipliers_are_rejected(change):
    data = json.loads(kg.exact("nnm+mda", n=7, f=2).certificate)
    best = max(data["cells"], key=lambda cell: len(cell["multipliers"]))
    best["multipliers"][change[0]] = change[1]
    with pytest.raises(Rejected):
        check(json.dumps(data))
