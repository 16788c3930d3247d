"""Estimators against NumPy, against the coverage they promise, and against one that saw everything."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.estimate.estimator import Estimator

ratios = st.lists(st.floats(0, 1e9) | st.just(math.inf), min_size=1, max_size=60)


def filled(values, **options):
    estimator = Estimator(**options)
    estimator.update(values)
    return estimator


def kept(estimator):
    """Keys and values, in order."""
    return sorted(zip(estimator._keys.tolist(), estimator._values.tolist(), strict=True))


@given(ratios, st.floats(0, 1))
@settings(deadline=None)
def test_short_streams_are_exact(values, level):
    estimator = filled(values)
    assert (estimator.count, estimator.maximum, estimator.exact) == (len(values), max(values), True)
    assert values[estimator.where] == max(values)
    assert values.index(max(values)) == estimator.where
    # by definition: the smallest value that at least a share `level` do not exceed
    shares = sorted(v for v in values if sum(w <= v for w in values) >= level * len(values) - 1e-9)
    assert estimator.quantile(level) == shares[0]


def test_one_at_a_time_is_all_at_once():
    values = np.random.default_rng(0).exponential(size=500)
    slow = Estimator(capacity=50)
    for value in values:
        slow.update(value)
    fast = filled(torch.from_numpy(values), capacity=50)
    assert slow.summary() == fast.summary()
    assert not slow.exact


def test_the_sample_of_a_long_stream_is_uniform():
    """Positions in the stream are kept equally often, in the sense of a chi-squared test at 1 in 10^6."""
    counts = np.zeros(10)
    for seed in range(60):
        estimator = filled(np.arange(1000.0), capacity=100, seed=seed)
        counts += np.histogram(estimator.sample, bins=10, range=(0, 1000))[0]
    assert counts.sum() == 6000
    assert ((counts - 600) ** 2 / 600).sum() < 44.8


@given(ratios, ratios, st.integers(1, 40))
@settings(deadline=None)
def test_merging(first, second, capacity):
    one, two = filled(first, capacity=capacity, stream=1), filled(second, capacity=capacity, stream=2)
    both = one.merge(two)
    assert both.count == len(first) + len(second)
    assert both.maximum == max(first + second)
    assert (first + second).index(both.maximum) == both.where
    # the kept ones are those with the smallest keys of all
    assert kept(both) == sorted((*kept(one), *kept(two)))[:capacity]
    assert one.count == len(first)
    swapped = two.merge(one)
    assert kept(swapped) == kept(both)
    if both.exact:
        assert both.quantile(0.5) == filled(first + second).quantile(0.5)


@given(ratios, ratios, st.integers(1, 40))
@settings(deadline=None)
def test_what_was_written_merges_like_what_was_not(first, second, capacity):
    one, two = filled(first, capacity=capacity, stream=1), filled(second, capacity=capacity, stream=2)
    again = Estimator.from_json(json.loads(json.dumps(one.to_json(), allow_nan=False)))
    assert again.summary() == one.summary()
    both, plain = again.merge(two), one.merge(two)
    assert (both.summary(), both.where, kept(both)) == (plain.summary(), plain.where, kept(plain))


def test_merging_with_nothing():
    merged = Estimator(stream=1).merge(filled([3.0, 1.0], stream=2))
    assert (merged.count, merged.maximum, merged.where) == (2, 3.0, 0)
    merged = filled([3.0, 1.0], stream=2).merge(Estimator(stream=1))
    assert (merged.count, merged.maximum, merged.where) == (2, 3.0, 0)


@pytest.mark.parametrize(("level", "size"), [(0.5, 30), (0.9, 100), (0.95, 40)])
def test_the_interval_covers_the_quantile_as_often_as_it_says(level, size):
    generator = np.random.default_rng(1)
    truth = -math.log(1 - level)
    covered = 0
    for _ in range(1000):
        interval = filled(generator.exponential(size=size)).interval(level, 0.9)
        covered += interval.low <= truth <= interval.high
    # 90%, minus four standard deviations
    assert covered >= 900 - 4 * math.sqrt(1000 * 0.9 * 0.1)
    assert covered < 1000


def test_the_interval_is_the_textbook_one():
    """n = 10, median, 95%: between the 2nd and the 9th order statistic (coverage 97.9%)."""
    interval = filled(np.arange(1.0, 11.0)).interval(0.5, 0.95)
    assert (interval.low, interval.high) == (2.0, 9.0)
    assert filled([1.0, 2.0]).interval(0.99).high == math.inf
    assert filled([1.0, 2.0]).interval(0.01).low == 0.0


def test_exceedance_is_the_rule_of_three():
    assert filled(np.ones(1000)).exceedance(0.95) == pytest.approx(3 / 1000, rel=0.01)
    assert (1 - filled(np.ones(50)).exceedance(0.9)) ** 50 == pytest.approx(0.1)
    assert Estimator().exceedance() == 1.0


def test_the_root_of_a_summary_is_the_summary_of_roots():
    values = np.random.default_rng(2).exponential(size=100)
    squares, roots = filled(values**2).summary(0.9), filled(values).summary(0.9)
    turned = squares.root
    assert turned.maximum == pytest.approx(roots.maximum)
    assert turned.quantile == pytest.approx(roots.quantile)
    assert turned.interval.low == pytest.approx(roots.interval.low)
    assert turned.interval.high == pytest.approx(roots.interval.high)


@pytest.mark.parametrize(
    "call",
    [
        lambda: filled([math.nan]),
        lambda: filled([-1.0]),
        lambda: Estimator().quantile(0.5),
        lambda: filled([1.0]).quantile(1.5),
        lambda: filled([1.0]).interval(0.5, 1.0),
        lambda: filled([1.0]).exceedance(0.0),
        lambda: filled([1.0]).merge(filled([1.0])),
        lambda: filled([1.0]).merge(filled([1.0], capacity=3, stream=1)),
        lambda: Estimator(capacity=0),
    ],
)
def test_refusals(call):
    with pytest.raises(InputError):
        call()
