"""The geometric median beside one vector that is very far away: its pull is one, however far it is."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.names import parse

SPREAD = 1e-7


def with_a_far_row(d, far, seed=0):
    near = SPREAD * np.random.default_rng(seed).standard_normal((6, d)).astype(np.float32)
    row = np.zeros((1, d), dtype=np.float32)
    row[0, 0] = far
    return np.concatenate([near, row])


def naive(near, direction):
    """Weiszfeld's iteration on the near vectors, with a constant pull of one in a direction."""
    near = near.astype(np.float64)
    y = near.mean(axis=0)
    for _ in range(20_000):
        inverse = 1 / np.linalg.norm(near - y, axis=1)
        y = (inverse @ near + direction) / inverse.sum()
    return y


@pytest.mark.parametrize("d", [4, 600])
@pytest.mark.parametrize("far", [1e20, 1e36, 3e38])
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_in_float32_a_far_vector_keeps_its_pull(d, far, library):
    x = with_a_far_row(d, far)
    expected = naive(x[:6], np.eye(d)[0])
    found = np.asarray(parse("gm")(library(x)), dtype=np.float64)
    assert np.linalg.norm(found - expected) <= 1e-5 * np.sqrt(d) * SPREAD


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e10, 1e20, 3e38, 1e250, 1e300])
def test_a_bound_is_finite_and_true_beside_a_far_vector(far, dtype):
    if dtype == np.float32 and far > 1e39:
        pytest.skip("float32 ends at 3.4e38")
    x = with_a_far_row(5, 1.0).astype(dtype)
    x[6, 0] = far
    point, bound = GeometricMedian().with_bound(x)
    assert np.isfinite(bound)
    kept = far < 1e100
    expected = naive(x[:6], np.eye(5)[0] if kept else np.zeros(5))
    assert np.linalg.norm(point.astype(np.float64) - expected) <= bound + 1e-9 * SPREAD
    assert bound <= (1e-4 if dtype == np.float32 else 1e-6) * SPREAD


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.inf, 1e306])
def test_rows_beyond_all_numbers_in_different_columns_make_no_noise(value, dtype):
    """Warnings are errors here: partial sums of several threads overflow, or are infinite with both signs."""
    if dtype == np.float32 and np.isfinite(value):
        pytest.skip("float32 ends at 3.4e38")
    x = np.random.default_rng(0).standard_normal((17, 100_000)).astype(dtype)
    for row in range(13, 17):
        x[row, [7, 90_000 + row]] = value, -value
    found = parse("gm")(x)
    assert np.isfinite(found).all()
    assert np.allclose(found, parse("gm")(x[:13]), atol=0.5)


@pytest.mark.parametrize("scale", [1e3, 1e8, 1e12])
@pytest.mark.parametrize("half", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_two_clusters_of_equal_weight(scale, half, seed):
    """No bend between them that a float could see: any point there will do, if the sum of distances is the least."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((2 * half, 3))
    x[half:] += scale * generator.standard_normal(3)
    batch = np.stack([x, generator.standard_normal(x.shape)])
    found = GeometricMedian()(batch)

    def total(point):
        return np.linalg.norm(x - point, axis=1).sum()

    candidates = [*x, *((one + two) / 2 for one in x for two in x)]
    assert total(found[0]) <= min(map(total, candidates)) + 1e-9 * scale
    assert np.allclose(found[1], GeometricMedian()(batch[1]), atol=1e-9)
    assert np.isfinite(GeometricMedian().with_bound(x).bound)
