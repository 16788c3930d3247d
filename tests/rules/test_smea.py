"""SMEA against all subsets in coordinates, and on planted instances of full size."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest

from kappaguard.rules.names import parse
from kappaguard.rules.smea import CHUNK


def largest_eigenvalue(rows):
    return float(np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[0] ** 2)


def brute(x, f):
    """The first subset whose value is within rounding of the smallest."""
    subsets = list(combinations(range(len(x)), len(x) - f))
    values = np.array([largest_eigenvalue(x[list(subset)]) for subset in subsets])
    return x[list(subsets[int(np.argmax(values <= values.min() * (1 + 1e-9)))])].mean(axis=0)


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("d", [1, 2, 5, 400])
def test_against_all_subsets(n, d):
    generator = np.random.default_rng(10 * n + d)
    for f in range((n - 1) // 2 + 1):
        x = generator.standard_normal((n, d)) * 10.0 ** generator.uniform(-1, 1, d)
        x[:f] += 3
        x = generator.permutation(x)
        assert parse("smea", f=f)(x) == pytest.approx(brute(x, f), abs=1e-10)


def test_against_all_subsets_across_chunks():
    x = np.random.default_rng(0).standard_normal((15, 3))
    assert len(list(combinations(range(15), 10))) > CHUNK
    assert parse("smea", f=5)(x) == pytest.approx(brute(x, 5), abs=1e-10)


@pytest.mark.parametrize("n", range(3, 9))
def test_ties_go_to_the_first_subset(n):
    """All subsets of the corners of a simplex have the same spectrum, up to rounding."""
    rotation, _ = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))
    for f in range((n - 1) // 2 + 1):
        for corners in (np.eye(n), rotation):
            assert parse("smea", f=f)(corners) == pytest.approx(corners[: n - f].mean(axis=0), abs=1e-12)


def test_equal_vectors():
    x = np.ones((7, 3))
    assert np.array_equal(parse("smea", f=3)(x), np.ones(3))
    x[[1, 4]] = 5
    assert np.array_equal(parse("smea", f=3)(x), np.ones(3))


def test_offset_and_tiny_spread():
    x = np.random.default_rng(4).standard_normal((9, 3))
    tiny = 1e6 + 1e-3 * x
    assert parse("smea", f=3)(tiny) - 1e6 == pytest.approx(brute(tiny - 1e6, 3), abs=1e-9)


@pytest.mark.parametrize("place", ["last", "first", "spread"])
def test_planted_instance_at_full_size(place):
    """15 of 20 vectors have covariance about 0.01; every other subset holds a vector at distance 3 or more."""
    generator = np.random.default_rng(11)
    members = {"last": np.arange(5, 20), "first": np.arange(15), "spread": np.delete(np.arange(20), [0, 4, 9, 13, 19])}
    x = 3 * np.eye(20, 30) + 0.1 * generator.standard_normal((20, 30))
    x[members[place]] = 0.1 * generator.standard_normal((15, 30))
    start = time.monotonic()
    result = parse("smea", f=5)(x)
    assert time.monotonic() - start < 60
    assert result == pytest.approx(x[members[place]].mean(axis=0), abs=1e-12)


def test_a_random_instance_at_full_size_has_no_better_neighbour():
    """Exchanging any one chosen vector for another one must not lower the value."""
    x = np.random.default_rng(2).standard_normal((20, 4))
    mean = parse("smea", f=5)(x)
    # the subset follows from its mean: exact arithmetic is not needed, the means are far apart
    weights = next(
        list(subset)
        for subset in combinations(range(20), 15)
        if np.abs(x[list(subset)].mean(axis=0) - mean).max() < 1e-12
    )
    value = largest_eigenvalue(x[weights])
    for leaving in weights:
        for entering in set(range(20)) - set(weights):
            other = [entering if index == leaving else index for index in weights]
            assert largest_eigenvalue(x[other]) >= value * (1 - 1e-12)
