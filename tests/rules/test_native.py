"""The compiled kernels against plain NumPy and exact fractions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from kappaguard.rules import native
from kappaguard.rules.coordinates import ROUNDINGS
from kappaguard.rules.krum import Krum
from kappaguard.rules.names import parse
from kappaguard.rules.native import sharing
from kappaguard.rules.nnm import NNM

from . import naive
from .inputs import exactly

compiled = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")
WIDTHS = [1, 7, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1000]
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])


def sample(n, d, dtype, seed=0):
    return np.random.default_rng([seed, n, d]).standard_normal((n, d)).astype(dtype)


@pytest.fixture(params=[1, 2, 7], ids=lambda count: f"{count} threads")
def threads(request, monkeypatch):
    """Column ranges for so many threads, however small the matrix is."""
    monkeypatch.setattr(sharing, "thread_count", lambda: request.param)
    monkeypatch.setattr(sharing, "ENTRIES_PER_THREAD", 1)
    return request.param


@compiled
@dtypes
@pytest.mark.parametrize("n", range(1, 41))
def test_window_means(n, dtype):
    tolerance = 4 * n * np.finfo(dtype).eps
    for d, f in product(WIDTHS, {0, 1, n // 4, (n - 1) // 2}):
        if 2 * f < n:
            x = sample(n, d, dtype)
            expected = np.sort(x.astype(np.float64), axis=0)[f : n - f].mean(axis=0)
            result = native.window_mean(x, f, n - f)
            assert result.dtype == dtype
            np.testing.assert_allclose(result, expected, rtol=0, atol=tolerance)


@compiled
@dtypes
@pytest.mark.parametrize("n", [*range(1, 10), 16, 17, 31, 32, 33, 39, 40])
def test_means_around_the_median(n, dtype):
    margin = ROUNDINGS * float(np.finfo(dtype).eps)
    for d, f in product([1, 65, 256, 513], {0, 1, n // 4, (n - 1) // 2}):
        if 2 * f < n:
            x = sample(n, d, dtype)
            wide = x.astype(np.float64)
            far = np.abs(wide - np.median(wide, axis=0))
            nearest = np.argsort(far, axis=0, kind="stable")[: n - f]
            expected = np.take_along_axis(wide, nearest, axis=0).mean(axis=0)
            ordered = np.sort(far, axis=0)
            clear = np.ones(d, bool) if f == 0 else ordered[n - f] - ordered[n - f - 1] > 1e-5
            result = native.mean_around_median(x, n - f, margin)
            np.testing.assert_allclose(result[clear], expected[clear], rtol=0, atol=8 * n * np.finfo(dtype).eps)


@compiled
@dtypes
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 40])
@pytest.mark.parametrize("d", [255, 256, 257, 1000])
def test_results_do_not_depend_on_threads(n, d, dtype, threads):
    x = sample(n, d, dtype)
    ordered = np.sort(x.astype(np.float64), axis=0)
    np.testing.assert_allclose(native.window_mean(x, 0, 1), ordered[0], rtol=0, atol=0)
    np.testing.assert_allclose(native.window_mean(x, n - 1, n), ordered[-1], rtol=0, atol=0)
    wide = x.astype(np.float64)
    expected = ((wide[:, None] - wide[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(native.squared_distances(x).distances, expected, rtol=1e-12)


@compiled
def test_more_threads_than_columns(threads):
    x = sample(40, 2, np.float64)
    np.testing.assert_array_equal(native.window_mean(x, 39, 40), x.max(axis=0))
    assert native.squared_distances(x).distances[3, 5] == pytest.approx(((x[3] - x[5]) ** 2).sum(), rel=1e-13)


@compiled
@dtypes
@pytest.mark.parametrize("n", range(1, 41))
def test_distances(n, dtype):
    for d in WIDTHS:
        x = sample(n, d, dtype)
        wide = x.astype(np.longdouble)
        expected = np.array([((wide - row) ** 2).sum(axis=-1) for row in wide])
        result = native.squared_distances(x).distances
        assert result.dtype == np.float64
        assert np.all(np.diagonal(result) == 0)
        assert np.array_equal(result, result.T)
        np.testing.assert_allclose(result, expected.astype(float), rtol=1e-12)


def exact_distances(x):
    rows = [[Fraction(float(value)) for value in row] for row in x]
    return np.array([[float(naive.square_distance(a, b)) for b in rows] for a in rows])


DELICATE = {
    "offset": lambda x: 1e6 + 1e-3 * x,
    "far row": lambda x: np.concatenate([x[:-1], x[-1:] + 1e8]),
    "two far rows": lambda x: np.concatenate([x[:-2], x[-2:] + np.array([[1e12], [-1e12]])]),
    "equal rows": lambda x: np.repeat(x[:3], [2, len(x) - 3, 1], axis=0),
    "nearly equal rows": lambda x: x[:1] + 1e-9 * x,
    "clusters": lambda x: 1e-7 * x + 100 * (np.arange(len(x))[:, None] % 3),
    "offset and far row": lambda x: np.concatenate([1e6 + 1e-3 * x[:-1], x[-1:] - 1e9]),
    "one column": lambda x: np.where(np.arange(x.shape[1]) == 5, 1e9 * x, x),
}


@compiled
@pytest.mark.parametrize("kind", DELICATE)
@pytest.mark.parametrize(("n", "d"), [(5, 513), (9, 70)])
def test_distances_that_would_cancel(kind, n, d, threads):
    x = DELICATE[kind](sample(n, d, np.float64))
    np.testing.assert_allclose(native.squared_distances(x).distances, exact_distances(x), rtol=1e-12, atol=0)


@compiled
def test_distances_of_single_precision_with_a_far_row():
    x = sample(9, 600, np.float32)
    x[4] += np.float32(3e7)
    np.testing.assert_allclose(native.squared_distances(x).distances, exact_distances(x), rtol=1e-12, atol=0)


@compiled
@dtypes
def test_distances_from_one_row_and_lengths(dtype, threads):
    for n, d in product([1, 3, 17], [1, 7, 8, 9, 257, 1000]):
        x = sample(n, d, dtype)
        wide = x.astype(np.longdouble)
        for row in {0, n - 1}:
            expected = ((wide - wide[row]) ** 2).sum(axis=-1).astype(float)
            np.testing.assert_allclose(native.distances_from(x, row), expected, rtol=1e-13)
        np.testing.assert_allclose(native.squared_lengths(x), (wide**2).sum(axis=-1).astype(float), rtol=1e-13)


@compiled
@dtypes
@pytest.mark.parametrize("position", [(0, 0), (6, 255), (3, 256), (0, 699), (6, 699)])
def test_nan_is_flagged(dtype, position, threads):
    x = sample(7, 700, dtype)
    assert native.window_mean(x, 2, 5) is not None
    x[position] = np.nan
    assert native.window_mean(x, 2, 5) is None
    assert native.mean_around_median(x, 5, 1e-15) is None
    with np.errstate(invalid="ignore"):
        assert np.isnan(native.squared_distances(x).distances[position[0]]).any()


@compiled
@dtypes
def test_infinite_values_are_sorted(dtype):
    x = sample(7, 300, dtype)
    x[1], x[4, ::2], x[4, 1::2] = np.inf, -np.inf, np.inf
    expected = np.sort(x, axis=0)[2:5].mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(native.window_mean(x, 2, 5), expected, atol=1e-6)


VIEWS = {
    "columns first": np.asfortranarray,
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "batch of one": lambda x: x[None],
    "part of a wider matrix": lambda x: np.pad(x, ((1, 1), (3, 2)))[1:-1, 3:-2],
    "foreign byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "read only": lambda x: np.frombuffer(x.tobytes(), dtype=x.dtype).reshape(x.shape),
}
NAMES = [
    "cwmed",
    "cwtm",
    "meamed",
    "krum",
    "multikrum",
    "mda",
    "monna",
    "gm",
    "caf",
    "nnm+cwtm",
    "nnm+krum",
    "centered_clipping",
    "arc+krum",
]


@dtypes
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_every_memory_layout(name, view, dtype):
    x = sample(9, 700, dtype)
    other = VIEWS[view](x)
    result = np.asarray(parse(name, f=2)(other)).reshape(-1)
    expected = parse(name, f=2)(x)
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-6 if dtype == np.float32 else 1e-12)


SCRIPT = """
import json, sys
import numpy as np
from kappaguard.rules import native
from kappaguard.rules.names import parse
from kappaguard.rules.native import sharing
names = json.loads(sys.argv[1])
out = {"available": native.available(), "threads": sharing.thread_count()}
for d in (300, 20000):
    x = np.random.default_rng(d).standard_normal((17, d))
    x[:4] += 0.2
    for name in names:
        out[f"{name} {d}"] = parse(name, f=4)(x)[:: d // 100].tolist()
print(json.dumps(out))
"""


def run_rules(**environment):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(NAMES)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


@compiled
def test_the_switches_change_nothing_but_the_way():
    plain = run_rules(KAPPAGUARD_NATIVE="0")
    several = run_rules(KAPPAGUARD_NATIVE="1", KAPPAGUARD_THREADS="5")
    assert (plain.pop("available"), several.pop("available")) == (False, True)
    assert several.pop("threads") == 5
    plain.pop("threads")
    assert plain.keys() == several.keys()
    for key, expected in plain.items():
        np.testing.assert_allclose(several[key], expected, rtol=0, atol=1e-10, err_msg=key)


@compiled
@pytest.mark.parametrize("threads_wish", ["0", "-1", "many", "", "9" * 5000])
@pytest.mark.parametrize("variable", ["KAPPAGUARD_THREADS", "OMP_NUM_THREADS"])
def test_a_wrong_number_of_threads_is_passed_over(threads_wish, variable, monkeypatch, fresh_thread_count):
    monkeypatch.delenv("KAPPAGUARD_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    usual = sharing.thread_count()
    sharing.thread_count.cache_clear()
    monkeypatch.setenv(variable, threads_wish)
    assert sharing.thread_count() == usual


def test_a_process_that_is_to_have_one_core_takes_one_thread(monkeypatch, fresh_thread_count):
    """As joblib and torchrun tell it; a wish for ourselves is stronger, and OpenMP's never asks for more than cores."""
    monkeypatch.delenv("KAPPAGUARD_THREADS", raising=False)
    seen = {}
    for wish in ("1", "999"):
        monkeypatch.setenv("OMP_NUM_THREADS", wish)
        sharing.thread_count.cache_clear()
        seen[wish] = sharing.thread_count()
    assert seen["1"] == 1
    assert seen["999"] <= (os.cpu_count() or 1)
    monkeypatch.setenv("KAPPAGUARD_THREADS", "3")
    sharing.thread_count.cache_clear()
    assert sharing.thread_count() == 3


@pytest.fixture
def fresh_thread_count():
    sharing.thread_count.cache_clear()
    yield
    sharing.thread_count.cache_clear()


def delicate_cloud(seed, n, d):
    """A large offset, a tiny spread, and pairs of neighbours whose distances differ by little."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((n, d))
    x[: n // 4] += 0.3
    return 1e6 + 1e-3 * x


@compiled
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("n", "f", "d"), [(17, 4, 130), (17, 8, 130), (40, 10, 52)])
def test_neighbour_sets_survive_a_large_offset(seed, n, f, d):
    x = delicate_cloud(seed, n, d)
    assert native.applies(x)
    rows = exactly(x).tolist()
    square = [[naive.square_distance(a, b) for b in rows] for a in rows]
    neighbours = [sorted(range(n), key=lambda j, line=line: (line[j], j))[: n - f] for line in square]
    chosen = np.zeros((n, n))
    for i, members in enumerate(neighbours):
        chosen[i, members] = 1 / (n - f)
    marked = np.concatenate([x, np.zeros((n, n))], axis=1)
    # the last n columns tell which vectors were mixed, and are too small to change a distance that matters
    marked[:, -n:] = 1e-12 * np.eye(n)
    mixed = NNM(f=f)(marked)
    assert np.array_equal(mixed[:, -n:] > 1e-15, chosen > 0)
    scores = [sum(line[j] for j in members) for line, members in zip(square, neighbours, strict=True)]
    winner = min(range(n), key=lambda j: (scores[j], j))
    assert np.array_equal(Krum(f=f)(x), x[winner])
