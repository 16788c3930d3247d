"""MDA against all subsets, and its search against instances that are hard for it."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.mda import _coverable, _cycle_cover, tightest_subset
from kappaguard.rules.names import parse

from . import naive
from .inputs import exactly


def brute_subset(pair_ranks, f):
    n = len(pair_ranks)

    def diameter(subset):
        return max((pair_ranks[i][j] for i, j in combinations(subset, 2)), default=0)

    return list(min(combinations(range(n), n - f), key=lambda subset: (diameter(subset), subset)))


def random_ranks(generator, n, levels):
    upper = np.triu(generator.integers(1, levels + 1, (n, n)), 1)
    return upper + upper.T


@pytest.mark.parametrize("n", range(1, 10))
@pytest.mark.parametrize("levels", [1, 2, 3, 1000], ids=lambda count: f"{count} levels")
def test_against_all_subsets(n, levels):
    """Any symmetric matrix of ranks, from one level (all tied) to no ties."""
    generator = np.random.default_rng(100 * n + levels)
    for f in range((n - 1) // 2 + 1):
        for _ in range(8):
            pair_ranks = random_ranks(generator, n, levels)
            assert tightest_subset(pair_ranks, f) == brute_subset(pair_ranks, f)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.data())
def test_integer_vectors_against_all_subsets(n, data):
    f = data.draw(st.integers(0, (n - 1) // 2))
    x = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=2 * n, max_size=2 * n)), dtype=float).reshape(n, 2)
    expected = naive.mda(exactly(x).tolist(), f)
    assert parse("mda", f=f)(exactly(x)).tolist() == expected
    assert parse("mda", f=f)(x) == pytest.approx(np.array(expected, dtype=float), abs=1e-12)
    assert parse("mda", f=f)(np.repeat(x, 1100, axis=1))[::1100] == pytest.approx(
        np.array(expected, dtype=float), abs=1e-12
    )


def test_distances_that_differ_in_the_last_digits_are_tied():
    # a regular simplex whose edges differ by rounding only: the first subset, not the one that rounding favours
    generator = np.random.default_rng(0)
    rotation, _ = np.linalg.qr(generator.standard_normal((9, 9)))
    assert parse("mda", f=3)(rotation) == pytest.approx(rotation[:6].mean(axis=0), abs=1e-13)


def edges_to_graph(n, edges):
    graph = [0] * n
    for a, b in edges:
        graph[a] |= 1 << b
        graph[b] |= 1 << a
    return graph


def least_cover(n, edges):
    for size in range(n + 1):
        for cover in combinations(range(n), size):
            if all(a in cover or b in cover for a, b in edges):
                return size
    raise AssertionError


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_vertex_cover_against_all_covers(n, density, seed):
    generator = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(n), 2) if generator.random() < density]
    least = least_cover(n, edges)
    for budget in range(n + 1):
        assert _coverable(edges_to_graph(n, edges), budget) == (budget >= least)


@pytest.mark.parametrize("lengths", [(3,), (4,), (5,), (8, 3), (3, 3, 3), (5, 4, 3)])
def test_cover_of_cycles(lengths):
    edges, start = [], 0
    for length in lengths:
        edges += [(start + k, start + (k + 1) % length) for k in range(length)]
        start += length
    generator = np.random.default_rng(0)
    names = generator.permutation(start)
    graph = edges_to_graph(start, [(int(names[a]), int(names[b])) for a, b in edges])
    least = least_cover(start, edges)
    assert _cycle_cover(graph) == least
    assert _coverable(graph, least)
    assert not _coverable(graph, least - 1)


def hard_instances():
    generator = np.random.default_rng(7)
    normal = generator.standard_normal((40, 5))
    yield "random", normal
    yield "one dimension", normal[:, :1]
    yield "high dimension", generator.standard_normal((40, 2000))
    yield "clusters", normal + 6 * generator.integers(-1, 2, (40, 5))
    yield "two halves", normal + 50 * (np.arange(40)[:, None] % 2)
    yield "pairs", np.repeat(generator.standard_normal((20, 5)), 2, axis=0) + 1e-6 * normal
    yield "nearly equal distances", np.eye(40) + 1e-6 * generator.standard_normal((40, 40))
    yield "equal distances", np.eye(40)
    angle = 2 * np.pi * np.arange(40) / 40
    yield "circle", np.stack([np.cos(angle), np.sin(angle)], axis=1)
    yield "lattice", np.stack(np.meshgrid(np.arange(8.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    yield "opposite pairs", np.concatenate([np.eye(20), -np.eye(20)])


@pytest.mark.parametrize(("x"), [pytest.param(x, id=name) for name, x in hard_instances()])
def test_forty_vectors_with_ten_byzantine(x):
    start = time.monotonic()
    result = parse("mda", f=10)(x)
    assert time.monotonic() - start < 20
    assert np.all(np.isfinite(result))


def test_one_dimension_is_the_shortest_window():
    """On a line the tightest subset is a window of sorted values: a closed form at full size."""
    x = np.random.default_rng(7).standard_normal((40, 1))
    ordered = np.sort(x.ravel())
    start = min(range(11), key=lambda first: ordered[first + 29] - ordered[first])
    assert parse("mda", f=10)(x) == pytest.approx(ordered[start : start + 30].mean())


def test_planted_subset_at_full_size():
    generator = np.random.default_rng(3)
    x = 3 * generator.standard_normal((40, 20))
    members = np.sort(generator.choice(40, 30, replace=False))
    centre = x[members].mean(axis=0)
    x[members] = centre + 0.1 * (x[members] - centre)
    assert parse("mda", f=10)(x) == pytest.approx(x[members].mean(axis=0), abs=1e-12)
