"""The geometric median: optimal in coordinates, and as near to the true minimiser as its bound says."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.krum import Krum

GM = GeometricMedian()
DIGITS = 60
NEAR = 1e-9
"""The stated tolerance, relative to the spread."""


def over_columns(x, y):
    return float(np.median(np.linalg.norm(x - y, axis=1)))


def rounding(x):
    return 16 * np.finfo(float).eps * float(np.abs(x).max())


def assert_optimal(x, y, tolerance=1e-6):
    """Zero is a subgradient of the sum of distances at y: judged in the coordinates of x alone."""
    x, y = np.asarray(x, dtype=np.longdouble), np.asarray(y, dtype=np.longdouble)
    difference = x - y
    length = np.sqrt((difference**2).sum(axis=1))
    unit = float(np.median(length)) or 1.0
    here = length <= 10 * NEAR * unit + rounding(x)
    pull = (difference[~here] / length[~here, None]).sum(axis=0)
    # y is rounded to a float, which turns the direction to a vector that is very near
    turned = float((rounding(x) / length[~here]).sum())
    assert float(np.sqrt((pull**2).sum())) <= here.sum() + tolerance * len(x) + turned


def true_median(x):
    """The minimiser in 60 digits: a vertex that satisfies the condition, else damped Newton in coordinates.

    Not for an even number of vectors on one line.
    """
    with mpmath.workdps(DIGITS):
        points = [[mpmath.mpf(float(value)) for value in row] for row in x]
        d = len(points[0])
        for vertex in points:
            pull, here = [mpmath.mpf(0)] * d, 0
            for point in points:
                offset = [p - v for p, v in zip(point, vertex, strict=True)]
                length = mpmath.sqrt(sum(c * c for c in offset))
                here += length == 0
                pull = pull if length == 0 else [a + c / length for a, c in zip(pull, offset, strict=True)]
            if mpmath.sqrt(sum(c * c for c in pull)) <= here:
                return vertex
        y = _start(points)
        for _ in range(200):
            value, gradient, hessian = _derivatives(points, y)
            step = mpmath.lu_solve(hessian, gradient)
            # the last steps change the value by less than 60 digits can tell
            last = mpmath.norm(step) <= mpmath.mpf(10) ** -25 * _closest(points)
            share = mpmath.mpf(1)
            while not last and _value(points, [c - share * s for c, s in zip(y, step, strict=True)]) > value:
                share /= 2
            y = [c - share * s for c, s in zip(y, step, strict=True)]
            if last:
                return y
        raise AssertionError("the judge did not converge")


def _closest(points):
    """The smallest distance between two different vectors."""
    lengths = [mpmath.norm(mpmath.matrix(a) - mpmath.matrix(b)) for a in points for b in points]
    return min(length for length in lengths if length > 0)


def _start(points):
    """A point below every vertex, so that Newton's method stays away from them."""
    best = min(points, key=lambda vertex: _value(points, vertex))
    _, gradient, hessian = _derivatives(points, best)
    share = mpmath.mpf(1)
    weight = hessian[0, 0] + sum(hessian[k, k] for k in range(1, len(best)))
    while True:
        trial = [c - share * g / weight for c, g in zip(best, gradient, strict=True)]
        if _value(points, trial) < _value(points, best):
            return trial
        share /= 2


def _value(points, y):
    return sum(mpmath.sqrt(sum((p - c) ** 2 for p, c in zip(point, y, strict=True))) for point in points)


def _derivatives(points, y):
    d = len(y)
    value, gradient, hessian = mpmath.mpf(0), mpmath.matrix(d, 1), mpmath.matrix(d, d)
    for point in points:
        offset = [c - p for p, c in zip(point, y, strict=True)]
        length = mpmath.sqrt(sum(c * c for c in offset))
        value += length
        if length == 0:
            continue
        unit = [c / length for c in offset]
        for a in range(d):
            gradient[a] += unit[a]
            for b in range(d):
                hessian[a, b] += ((a == b) - unit[a] * unit[b]) / length
    return value, gradient, hessian


def distance_to_truth(x, y):
    with mpmath.workdps(DIGITS):
        truth = true_median(x)
        return float(mpmath.sqrt(sum((c - mpmath.mpf(float(v))) ** 2 for c, v in zip(truth, y, strict=True))))


def assert_true_and_bounded(x, largest_bound=1e-8):
    """Output within the stated tolerance, within the bound, and the bound small."""
    point, bound = GM.with_bound(x)
    error = distance_to_truth(x, point)
    assert error <= float(bound) + rounding(x)
    assert float(bound) <= largest_bound * over_columns(x, point) + rounding(x)
    assert distance_to_truth(x, GM(x)) <= NEAR * over_columns(x, point) + rounding(x)


def on_one_line(x):
    offset = x - x[0]
    return np.linalg.matrix_rank(offset) <= 1


@pytest.mark.parametrize("n", [3, 4, 5, 6, 9])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_generic_clouds(n, d):
    generator = np.random.default_rng([n, d])
    for _ in range(4):
        assert_true_and_bounded(generator.standard_normal((n, d)))


@pytest.mark.parametrize(
    ("n", "d", "dtype"),
    [(17, 700, np.float64), (17, 700, np.float32), (40, 60, np.float64), (129, 20, np.float64), (150, 3, np.float64)],
)
def test_optimality_at_larger_sizes(n, d, dtype):
    generator = np.random.default_rng([n, d])
    x = generator.standard_normal((n, d)).astype(dtype)
    x[: n // 3] += 5
    assert_optimal(x, GM(x), 1e-6 if dtype == np.float64 else 1e-5)
    assert_optimal(x, GM(torch.tensor(x, requires_grad=True)).detach().numpy(), 1e-6 if dtype == np.float64 else 1e-5)
    point, bound = GM.with_bound(x)
    assert_optimal(x, point, 1e-6 if dtype == np.float64 else 1e-5)
    assert bound <= (1e-8 if dtype == np.float64 else 1e-5) * over_columns(x, point)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.data())
def test_integer_points(n, data):
    """Small lattices: duplicates, lines, vertices, iterates that hit a vector."""
    entries = data.draw(st.lists(st.integers(-2, 2), min_size=2 * n, max_size=2 * n))
    x = np.array(entries, dtype=float).reshape(n, 2)
    point, bound = GM.with_bound(x)
    assert_optimal(x, point)
    assert_optimal(x, GM(x))
    if not (on_one_line(x) and n % 2 == 0):
        assert distance_to_truth(x, point) <= float(bound) + rounding(x)
        assert distance_to_truth(x, GM(x)) <= NEAR * (over_columns(x, point) or 1)


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_a_vertex_is_returned_exactly(extra):
    generator = np.random.default_rng(extra)
    x = np.concatenate([np.eye(4), -np.eye(4), np.full((1 + extra, 4), 0.05)]) + generator.standard_normal(4)
    point, bound = GM.with_bound(x)
    assert point == pytest.approx(x[-1], abs=1e-15)
    assert bound <= 1e-15
    assert GM(x) == pytest.approx(x[-1], abs=1e-15)


def test_a_vertex_on_the_edge_of_optimality():
    """Three unit vectors whose sum has length one: the fourth point is just optimal; a little later it is not."""
    for angle, inside in ((np.pi / 3 + 1e-3, True), (np.pi / 3 - 1e-3, False)):
        x = np.array([[0, 0], [1, 0], [np.cos(2 * angle), np.sin(2 * angle)]])
        assert (np.linalg.norm(x[1:].sum(axis=0)) <= 1) == inside
        assert np.array_equal(GM(x), x[0]) == inside
        assert_true_and_bounded(x)


def test_a_start_that_is_an_input():
    """The mean, and the median of each coordinate, is a vector that is not the minimiser."""
    x = np.array([[0, 0], [4, 0], [-1, 1], [-1, -1], [-2, 0], [0, 3], [0, -3]], dtype=float)
    assert np.allclose(x.mean(axis=0), x[0])
    assert_true_and_bounded(x)
    y = np.array([[0, 0], [10, 0.1], [-1, 0], [-1, 0.5], [-8, -0.6]])
    assert_true_and_bounded(y)


@pytest.mark.parametrize("copies", [(2, 2, 2), (3, 1, 1, 1), (2, 2, 1, 1), (4, 2, 1)])
@pytest.mark.parametrize("jitter", [0.0, 1e-300, 1e-30, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4])
def test_duplicates_and_near_duplicates(copies, jitter):
    """Groups of equal vectors, and the same groups taken apart by rounding or a little more."""
    for seed in range(3):
        generator = np.random.default_rng([seed, len(copies)])
        x = np.repeat(generator.standard_normal((len(copies), 3)), copies, axis=0)
        exact = GM(x)
        moved = x + jitter * generator.standard_normal(x.shape)
        for result in (
            GM(moved),
            GM.with_bound(moved).point,
            GM(torch.tensor(moved, requires_grad=True)).detach().numpy(),
        ):
            assert_optimal(moved, result, 1e-5)
            assert np.linalg.norm(result - exact) <= 1e3 * jitter + 1e-8


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("d", [1, 3, 600])
def test_vectors_on_a_line(n, d):
    """The median of the places on the line, the midpoint for an even number."""
    generator = np.random.default_rng([n, d])
    for _ in range(3):
        direction, origin = generator.standard_normal(d), generator.standard_normal(d)
        places = generator.standard_normal(n)
        x = origin + places[:, None] * direction
        expected = origin + np.median(places) * direction
        assert GM(x) == pytest.approx(expected, abs=1e-12)
        assert GM.with_bound(x).point == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("height", [1e-9, 1e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-4, 1e-2])
@pytest.mark.parametrize(
    "heights", [(0, 1, -1, 2), (1, 0, 0, 1), (0, 1, 2, -1), (1, -1, 1, 0, 2, 1), (0, 1, 0, -1, 1)], ids=str
)
def test_nearly_on_a_line_the_bound_stays_true(height, heights):
    """The minimiser may be anywhere in the middle segment; a bound that cannot tell must say so."""
    places = {4: (-3, -1, 2, 3), 5: (-3, -1, 0, 2, 3), 6: (-4, -3, -1, 2, 3, 5)}[len(heights)]
    x = np.stack([np.array(places, dtype=float), height * np.array(heights, dtype=float)], axis=1)
    point, bound = GM.with_bound(x)
    assert distance_to_truth(x, point) <= float(bound) + rounding(x)
    assert_optimal(x, point, 1e-6)
    if height >= 1e-2:
        assert_true_and_bounded(x)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12, 1e15, 1e18])
@pytest.mark.parametrize("count", [1, 2])
def test_far_outliers(far, count):
    generator = np.random.default_rng(count)
    for d in (2, 3):
        x = generator.standard_normal((6, d))
        x[:count] *= far
        honest = x[count:]
        point, bound = GM.with_bound(x)
        error = distance_to_truth(x, point)
        scale = np.linalg.norm(honest - honest.mean(axis=0), axis=1).max()
        assert error <= float(bound) + 1e-14 * scale * 6
        assert error <= NEAR * 10 * scale
        assert float(bound) <= 1e-7 * scale
        assert distance_to_truth(x, GM(x)) <= NEAR * 10 * scale


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "d"), [(7, 3), (8, 400), (17, 1)])
def test_equivariance(seed, n, d):
    generator = np.random.default_rng([seed, n, d])
    x = generator.standard_normal((n, d))
    y, unit = GM(x), over_columns(x, GM(x))
    rotation, _ = np.linalg.qr(generator.standard_normal((d, d)))
    offset = 100 * generator.standard_normal(d)
    assert np.linalg.norm(GM(x + offset) - offset - y) <= 1e-9 * unit
    assert np.linalg.norm(GM(x @ rotation) - y @ rotation) <= 1e-9 * unit
    assert np.linalg.norm(GM(x[::-1].copy()) - y) <= 1e-9 * unit
    for factor in (2.0**-450, 2.0**-30, 3.0, 1e10, 2.0**450):
        assert np.linalg.norm(GM(x * factor) / factor - y) <= 1e-9 * unit


@pytest.mark.parametrize("factor", [1e-163, 1e-170, 2.0**-600, 1e-290])
def test_scales_whose_squares_vanish(factor):
    x = np.random.default_rng(0).standard_normal((7, 3))
    assert GM(x * factor) / factor == pytest.approx(GM(x), abs=1e-8)
    assert Krum(f=2)(x * factor) / factor == pytest.approx(Krum(f=2)(x), abs=1e-8)


def test_the_tolerance_follows_the_spread():
    x = np.random.default_rng(0).standard_normal((7, 3))
    for factor in (1e-12, 1.0, 1e12):
        point, bound = GM.with_bound(x * factor)
        assert bound <= 1e-8 * factor
        assert distance_to_truth(x * factor, point) <= NEAR * factor
    tiny = 1e6 + 1e-3 * x
    assert distance_to_truth(tiny, GM(tiny)) <= 1e-3 * NEAR + rounding(tiny)


def test_bounds_of_batches_and_tensors():
    batch = np.random.default_rng(1).standard_normal((2, 3, 7, 4))
    batch[0, 1] = batch[0, 1, :1]
    points, bounds = GM.with_bound(batch)
    assert points.shape == (2, 3, 4)
    assert bounds.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert points[index] == pytest.approx(GM.with_bound(batch[index]).point, abs=1e-10)
        assert bounds[index] <= 1e-8
    tensors = GM.with_bound(torch.tensor(batch))
    assert isinstance(tensors.point, torch.Tensor)
    assert isinstance(tensors.bound, torch.Tensor)
    assert np.allclose(tensors.bound.numpy(), bounds, atol=1e-15)


@pytest.mark.parametrize("d", [1, 3, 3000])
def test_one_and_two_vectors(d):
    x = np.random.default_rng(0).standard_normal((2, d))
    assert np.array_equal(GM(x[:1]), x[0])
    assert GM(x) == pytest.approx(x.mean(axis=0), abs=1e-14)
    assert GM(np.repeat(x[:1], 4, axis=0)) == pytest.approx(x[0], abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_the_bound_includes_the_rounding_of_the_output(dtype, offset):
    x = (np.random.default_rng(7).standard_normal((17, 4)) + offset).astype(dtype)
    point, bound = GM.with_bound(x)
    truth = np.array([float(value) for value in true_median(x.astype(np.float64))])
    assert np.linalg.norm(point.astype(np.float64) - truth) <= bound
