"""The compiled kernels for sums and inner products, and the geometric median from what one vector sees."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.rules import native
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.native import sharing
from kappaguard.rules.weiszfeld import median_weights, minimise

pytestmark = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")


@pytest.fixture(params=[1, 3], ids=lambda count: f"{count} threads")
def threads(request, monkeypatch):
    """Column ranges for so many threads, however small the matrix is."""
    monkeypatch.setattr(sharing, "thread_count", lambda: request.param)
    monkeypatch.setattr(sharing, "ENTRIES_PER_THREAD", 1)
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "d"), [(1, 3000), (3, 2047), (17, 2048), (17, 2049), (32, 4097), (33, 4097), (40, 60_001)]
)
def test_combine(n, d, dtype, threads):
    """Against NumPy's product in double; rows of weight zero may hold anything."""
    generator = np.random.default_rng([n, d])
    x = generator.standard_normal((n, d)).astype(dtype)
    weights = generator.standard_normal(n)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    result, finite = native.combine(weights, x)
    assert finite
    assert np.allclose(result, weights @ x.astype(np.float64), atol=tolerance)
    if n > 1:
        weights[1], x[1] = 0.0, np.inf
        others, finite = native.combine(weights, x)
        assert finite
        expected = np.delete(weights, 1) @ np.delete(x, 1, axis=0).astype(np.float64)
        assert np.allclose(others, expected, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 17, 32, 33, 40])
@pytest.mark.parametrize("d", [2048, 2111, 400_003])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_combine_sees_every_entry_that_is_not_finite(n, d, dtype, value):
    """In the first and last column, and in the last column of the last whole strip."""
    x = np.ones((n, d), dtype=dtype)
    weights = np.full(n, 1 / n)
    for column in (0, d // 64 * 64 - 1, d - 1):
        x[n // 2, column] = value
        result, finite = native.combine(weights, x)
        assert not finite
        assert np.isfinite(np.delete(result, column)).all()
        x[n // 2, column] = 1
    assert native.combine(weights, x)[1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "count"), [(1, 3000, 1), (13, 2051, 2), (17, 60_001, 0), (40, 257, 3)])
def test_gram_about(n, d, count, dtype, threads):
    """Against a product in long double; the centre may be far away."""
    generator = np.random.default_rng([n, d, count])
    x = (generator.standard_normal((n, d)) + 100).astype(dtype)
    extra = generator.standard_normal((count, d)).astype(dtype)
    centre = (x.mean(axis=0) + 1).astype(dtype)
    rows = np.concatenate([x.astype(np.longdouble) - centre, extra.astype(np.longdouble)])
    expected = rows @ rows.T
    lengths = np.sqrt(expected.diagonal())
    error = np.abs(native.gram_about(x, centre, extra) - expected)
    assert np.all(error <= 1e-13 * lengths[:, None] * lengths)


def exact_gram(x, centre, extra):
    """Of numbers whose products and sums are whole and small enough for every order of summation to be exact."""
    rows = np.concatenate([x.astype(np.float64) - centre, extra.astype(np.float64)])
    with np.errstate(invalid="ignore"):
        return (rows[:, None] * rows).sum(axis=-1)


def whole_numbers(n, d, count, dtype):
    generator = np.random.default_rng([n, d, count])
    x, centre, extra = (generator.integers(-50, 51, size).astype(dtype) for size in ((n, d), d, (count, d)))
    return x, centre, extra


SPANS = [1, 3, 4, 5, 7, 8, 9, 15, 17, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383, 384, 385, 1000]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [*range(1, 21), *range(31, 35)])
def test_every_tile_of_a_gram_matrix(n, dtype):
    """To the last bit, around the borders of tiles and of blocks of columns."""
    for d in SPANS:
        x, centre, extra = whole_numbers(n, d, d % 3, dtype)
        assert np.array_equal(native.gram_about(x, centre, extra), exact_gram(x, centre, extra)), d
        distances = ((x[:, None].astype(np.float64) - x) ** 2).sum(axis=-1)
        assert np.array_equal(native.squared_distances(x).distances, distances), d


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(100, 193), (169, 385), (171, 385), (200, 159), (200, 321), (601, 130)])
def test_gram_matrices_of_many_rows(n, d, dtype):
    """Their blocks have fewer columns."""
    x, centre, extra = whole_numbers(n, d, 1, dtype)
    rows = np.concatenate([x - centre, extra]).astype(np.int64)
    assert np.array_equal(native.gram_about(x, centre, extra), rows @ rows.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 14])
def test_what_is_not_finite_stays_in_its_row(n, value, dtype, threads):
    """The zeros that fill up a block meet no infinity, and no other row sees any of it."""
    for d, column in ((1, 0), (9, 8), (193, 191), (193, 192), (400, 200)):
        for row in range(n):
            x, centre, extra = whole_numbers(n, d, 1, dtype)
            x[row, column] = value
            found = native.gram_about(x, centre, extra)
            assert np.array_equal(found, exact_gram(x, centre, extra), equal_nan=True)
            others = np.arange(n + 1) != row
            assert np.isfinite(found[np.ix_(others, others)]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "pattern",
    [
        [0, 1, 2, 3, 4, 4, 4],
        [0, 0, 0, 1, 2, 3, 4],
        [0, 1, 0, 2, 3, 4, 4],
        [0, 0, 0, 0, 0],
        [0, 1, 2, 0, 1],
        [2, 1, 0, 1, 2],
        [0, 1, 2, 3],
    ],
)
def test_equal_rows_are_at_distance_zero_and_the_others_where_they_were(pattern, dtype):
    """Against differences, pair by pair. Rows that begin alike are not equal."""
    generator = np.random.default_rng(len(pattern))
    kinds = generator.standard_normal((5, 3001)).astype(dtype)
    kinds[:, :100] = kinds[0, :100]
    x = np.ascontiguousarray(kinds[pattern])
    expected = np.array([[np.sum((a.astype(float) - b) ** 2) for b in x] for a in x])
    found = native.squared_distances(x).distances
    assert np.array_equal(found == 0, expected == 0)
    assert np.allclose(found, expected, rtol=1e-12)
    gram = native.gram_about(x, x[1], x[:1])
    rows = np.concatenate([x.astype(float) - x[1], x[:1].astype(float)])
    assert np.allclose(gram, rows @ rows.T, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("scale", [3.0, 1e3, 1e6, 1e15])
@pytest.mark.parametrize("far", [1, 3])
def test_the_compiled_median_of_vectors_that_are_far_apart(scale, far):
    """Against the search in Python, which knows the points and not only their distances."""
    generator = np.random.default_rng(far)
    x = generator.standard_normal((9, 700))
    x[-far:] = scale * generator.standard_normal(700)
    cloud = Cloud(x)
    expected = minimise(cloud).weights
    weights = median_weights(cloud)
    assert np.allclose(weights, expected, atol=1e-9)
    assert np.linalg.norm((weights - expected) @ x) <= 1e-9 * np.linalg.norm(x[0] - x[1])


@pytest.mark.parametrize("first", [False, True])
def test_far_vectors_are_looked_at_a_second_time_only_if_the_first_one_is_far(first, monkeypatch):
    """The inner products that gave the distances give the directions too, unless they are about a far vector."""
    looks = []
    again = native.gram_about
    monkeypatch.setattr(native, "gram_about", lambda *given: looks.append(given) or again(*given))
    x = np.random.default_rng(1).standard_normal((9, 700))
    x[0 if first else 8] *= 1e7
    cloud = Cloud(x)
    weights = median_weights(cloud)
    assert bool(looks) == first
    expected = minimise(Cloud(x)).weights
    assert np.linalg.norm((weights - expected) @ x) <= 1e-9 * np.linalg.norm(x[1] - x[2])


def test_medians_of_a_batch_are_those_of_its_members():
    """Near, far, on one line and infinite: each as if it were alone."""
    generator = np.random.default_rng(2)
    batch = generator.standard_normal((6, 7, 20))
    batch[1, 3] *= 1e9
    batch[2] = np.outer(np.arange(7.0), batch[2, 0])
    batch[3, 5] = np.inf
    batch[4] = batch[4, :1]
    found = GeometricMedian()(batch)
    for place, x in enumerate(batch):
        assert np.allclose(found[place], GeometricMedian()(x), rtol=0, atol=1e-8), place
