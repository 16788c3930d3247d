"""NNM's extra memory is of the order of n^2 + n d: no gather of n - f neighbours for each of n vectors."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from kappaguard.rules import native
from kappaguard.rules.names import parse
from kappaguard.rules.nnm import NNM

N, F, D = 40, 8, 50_000


@pytest.fixture(params=[True, False], ids=["compiled", "plain"])
def way(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(native, "applies", lambda x: False)
    elif not native.available():
        pytest.skip("the kernels are not compiled or switched off")
    return request.param


def peak_of(action):
    """Bytes that are allocated beyond what there was before, at the worst moment."""
    action()
    tracemalloc.start()
    try:
        result = action()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del result
    return peak


@pytest.fixture(scope="module")
def matrix():
    return np.random.default_rng(0).standard_normal((N, D)).astype(np.float32)


def test_the_measure_sees_a_gather(matrix):
    gathered = peak_of(lambda: matrix[np.zeros((4, N - F), dtype=int)].mean(axis=1))
    assert gathered > 4 * (N - F) * D * 4


def test_mixed_vectors(matrix, way):
    size = matrix.nbytes
    gather = N * (N - F) * D * 4
    # the output itself, and a few arrays of n d float64 where the distances are formed without the kernels
    limit = 2 * size + (1 << 20) if way else 6 * 2 * size
    assert limit < gather
    assert peak_of(lambda: NNM(f=F)(matrix)) < limit


@pytest.mark.parametrize("name", ["nnm+krum", "nnm+gm"])
def test_pipelines_that_see_distances_do_not_form_the_mixed_vectors(name, matrix, way):
    limit = matrix.nbytes // 2 if way else 6 * 2 * matrix.nbytes
    assert peak_of(lambda: parse(name, f=F)(matrix)) < limit


def test_memory_grows_like_n_times_d(way):
    """Twice the coordinates, twice the memory; n - f does not enter."""
    peaks = {}
    for n, d in ((20, 50_000), (20, 100_000), (40, 50_000)):
        x = np.random.default_rng(1).standard_normal((n, d)).astype(np.float32)
        peaks[n, d] = peak_of(lambda x=x, n=n: NNM(f=n // 5)(x))
    assert peaks[20, 100_000] < 2.5 * peaks[20, 50_000]
    assert peaks[40, 50_000] < 2.5 * peaks[20, 50_000]
