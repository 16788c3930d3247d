"""Bounds without a certificate of their own: ARC in front of a rule, and subsets of least spread."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import kappaguard as kg


def trimmed_behind_arc(x, f):
    """The definition in loops."""
    n = len(x)
    lengths = [float(np.sqrt((row**2).sum())) for row in x]
    limit = sorted(lengths)[n - 2 * f * (n - f) // n - 1]
    rows = np.array([row * min(1.0, limit / length) if length else row for row, length in zip(x, lengths, strict=True)])
    return np.array([sorted(column)[f : n - f] for column in rows.T]).mean(axis=1)


def flattest(x, f, spread):
    """The mean of the first subset of n - f with the least spread."""
    subsets = [x[list(chosen)] for chosen in combinations(range(len(x)), len(x) - f)]
    return min(subsets, key=spread).mean(axis=0)


def ratio(x, output, f):
    """Squared error over variance, the first n - f honest."""
    honest = x[: len(x) - f]
    spread = ((honest - honest.mean(axis=0)) ** 2).sum(axis=1).mean()
    return float(((output - honest.mean(axis=0)) ** 2).sum() / spread)


@pytest.mark.parametrize(("n", "f"), [(3, 1), (5, 1), (5, 2), (9, 3), (12, 5), (17, 4)])
def test_arc_in_front_of_the_trimmed_mean(n, f):
    clipped = 2 * f * (n - f) // n
    result = kg.exact("arc+cwtm", n, f)
    assert result.status.value == "exact"
    assert result.upper == Fraction(f, n - 2 * f) + Fraction(clipped, n - f - clipped)
    x = result.witness.array().astype(float)
    assert ratio(x, trimmed_behind_arc(x, f), f) == pytest.approx(float(result.upper), rel=2e-6)


def test_no_integer_input_is_worse_behind_arc():
    worst = 0.0
    for first in product(range(-2, 3), repeat=2):
        for others in product(product(range(-2, 3), repeat=2), repeat=2):
            x = np.array([first, *others], dtype=float) - [[7.0, 7.0]]
            if np.ptp(x[:2], axis=0).any():
                worst = max(worst, ratio(x, trimmed_behind_arc(x, 1), 1))
    assert 1.5 < worst < kg.exact("arc+cwtm", 3, 1).upper


@pytest.mark.solver
@pytest.mark.parametrize("rule", ["krum", "cwmed"])
def test_arc_does_not_help_in_the_worst_case(rule):
    alone, behind = kg.exact(rule, 5, 1), kg.exact(f"arc+{rule}", 5, 1, brief=True)
    assert alone.upper * (1 - Fraction(1, 10**6)) <= behind.lower <= behind.upper


@pytest.mark.parametrize(("n", "f"), [(3, 1), (5, 2), (7, 3), (9, 2)])
def test_the_flattest_subset(n, f):
    result = kg.exact("smea", n, f)
    assert result.status.value == "exact"
    assert result.upper == Fraction(4 * f, n - 2 * f)
    x = result.witness.array().astype(float)
    assert ratio(x, flattest(x, f, np.var), f) == pytest.approx(float(result.upper), rel=1e-6)


def test_no_integer_input_is_worse_for_the_flattest_subset():
    bound, worst = kg.exact("smea", 4, 1).upper, 0.0
    for values in product(range(-1, 2), repeat=8):
        x = np.array(values, dtype=float).reshape(4, 2)
        if np.ptp(x[:3], axis=0).any():
            output = flattest(x, 1, lambda rows: round(np.linalg.eigvalsh(np.cov(rows.T))[-1], 9))
            worst = max(worst, ratio(x, output, 1))
    assert 0.5 * bound <= worst <= bound
