"""Sorting networks, by the 0-1 principle."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.rules.native.networks import MAXIMUM, MINIMUM, merge_exchange, network


def apply_network(rows, steps):
    for upper, lower, mode in steps:
        least, most = np.minimum(rows[upper], rows[lower]), np.maximum(rows[upper], rows[lower])
        if mode != MAXIMUM:
            rows[upper] = least
        if mode != MINIMUM:
            rows[lower] = most
    return rows


def zeros_and_ones(n):
    return ((np.arange(2**n)[None, :] >> np.arange(n)[:, None]) & 1).astype(np.int8)


@pytest.mark.parametrize("n", range(1, 17))
def test_networks_sort_all_zeros_and_ones(n):
    """The 0-1 principle: a network that sorts these sorts everything."""
    rows = apply_network(zeros_and_ones(n), network(n, 0, n))
    assert np.all(np.diff(rows, axis=0) >= 0)
    assert all(0 <= upper < lower < n for upper, lower in merge_exchange(n))


@pytest.mark.parametrize("n", range(1, 13))
def test_pruned_networks_deliver_their_ranks(n):
    everything = zeros_and_ones(n)
    expected = np.sort(everything, axis=0)
    for low in range(n):
        for high in range(low + 1, n + 1):
            steps = network(n, low, high)
            rows = apply_network(everything.copy(), steps)
            assert np.array_equal(rows[low:high], expected[low:high])
            assert len(steps) <= len(network(n, 0, n))


@pytest.mark.parametrize("n", [17, 33, 40, 100])
def test_large_networks_sort(n):
    rows = np.random.default_rng(n).permuted(np.tile(np.arange(n)[:, None], 200), axis=0)
    steps = network(n, n // 4, n - n // 4)
    assert len(steps) < len(network(n, 0, n))
    ranks = np.arange(n)[n // 4 : n - n // 4, None]
    assert np.array_equal(apply_network(rows.copy(), steps)[n // 4 : n - n // 4], np.tile(ranks, 200))
    assert np.array_equal(apply_network(rows.copy(), network(n, 0, n)), np.tile(np.arange(n)[:, None], 200))
