"""What is known of the first vectors changes how pairs are formed, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules import distances, native
from kappaguard.rules.distances import Beginning, pairs_beginning_with
from kappaguard.rules.names import parse

M, F, D = 7, 3, 1000
compiled = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")


def vectors(far, dtype, seed=5):
    """Seven vectors, and one that is sent three times; and the inner products of the seven about their mean."""
    generator = np.random.default_rng(seed)
    first = generator.standard_normal((M, D)).astype(dtype)
    other = (far * generator.standard_normal(D)).astype(dtype)
    centre = first.mean(axis=0)
    rows = first.astype(np.longdouble) - centre
    return np.concatenate([first, [other] * F]), Beginning(centre, (rows @ rows.T).astype(np.float64))


@compiled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e3, 1e8])
def test_pairs_are_those_of_the_vectors(far, dtype):
    x, beginning = vectors(far, dtype)
    found = pairs_beginning_with(x, beginning)
    exact = x.astype(np.longdouble)
    distances = ((exact[:, None] - exact) ** 2).sum(axis=-1)
    rows = exact - beginning.centre
    gram, lengths = rows @ rows.T, np.sqrt((rows**2).sum(axis=1))
    assert np.all(np.abs(found.distances - distances) <= 1e-11 * distances)
    assert np.all(np.abs(found.gram - gram) <= 1e-12 * lengths[:, None] * lengths)


NAMES = ["krum", "gm", "nnm+gm", "nnm+krum", "nnm+cwtm", "mda", "cwmed", "average", "bucketing(s=2)+gm"]
NAMES += ["bucketing(s=2)+cwmed", "nnm+bucketing(s=2)+gm"]


@compiled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("far", [0.5, 1e6])
def test_rules_say_the_same(name, far, dtype):
    """As on a batch of one, which takes none of the compiled ways, with what is known and without."""
    for seed in range(6):
        x, beginning = vectors(far, dtype, seed)
        rule = parse(name, f=F)
        expected = rule(x[None])[0]
        tolerance = (1e-5 if dtype == np.float32 else 1e-9) * np.abs(expected).max()
        np.testing.assert_allclose(rule.knowing(x, beginning), expected, rtol=0, atol=tolerance)
        np.testing.assert_allclose(rule(x), expected, rtol=0, atol=tolerance)


@compiled
def test_what_is_known_of_other_vectors_is_not_believed():
    """The last vectors differ from each other: nothing is known of such a cloud."""
    x, beginning = vectors(1.0, np.float64)
    x[-1] += 1
    for name in ("average", "gm", "krum"):
        rule = parse(name, f=F)
        np.testing.assert_array_equal(rule.knowing(x, beginning), rule(x))


@compiled
@pytest.mark.parametrize("kind", ["near", "infinite", "no number", "tiny", "vanishing", "nothing more", "small"])
def test_where_digits_would_be_lost_all_pairs_are_formed(kind):
    x, beginning = vectors(1.0, np.float64)
    match kind:
        case "near":
            x[M:] = x[0] * (1 + 1e-9)
        case "infinite":
            x[M:, 3] = np.inf
        case "no number":
            x[M:, 3] = np.nan
        case "tiny":
            x, beginning = x * 1e-110, Beginning(beginning.centre * 1e-110, beginning.gram * 1e-220)
        case "vanishing":
            x, beginning = x * 1e-170, Beginning(beginning.centre * 1e-170, np.zeros_like(beginning.gram))
        case "nothing more":
            x = x[:M]
        case "small":
            x, beginning = x[:, :10], beginning._replace(centre=beginning.centre[:10])
    assert pairs_beginning_with(x, beginning) is None
    if kind == "no number":
        return
    f = 0 if kind == "nothing more" else F
    np.testing.assert_array_equal(parse("krum", f=f).knowing(x, beginning), parse("krum", f=f)(x))


def test_equal_vectors_do_not_make_all_pairs_be_formed(monkeypatch):
    """Byzantine vectors are mostly equal: only their own pairs lose digits, and only those are formed again."""
    monkeypatch.setattr(distances, "BLOCK_ENTRIES", 1 << 10)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(9, 400)) + 50
    x[6:] = x[6]
    x[2] = x[1] + 1e-9 * generator.normal(size=400)
    expected = np.sum((x[:, None] - x[None]) ** 2, axis=-1)
    monkeypatch.setattr(distances, "_from_differences", lambda *_: pytest.fail("all pairs"))
    for given in (x, torch.from_numpy(x)):
        found = np.asarray(distances._plain(given))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert found[6, 7] == found[8, 6] == 0
    batch = np.stack([x, x[::-1]])
    np.testing.assert_allclose(distances._plain(batch), np.stack([expected, expected[::-1, ::-1]]), rtol=1e-9)


def test_many_equal_vectors_and_infinite_ones_are_formed_from_differences():
    x = np.ones((6, 400_000))
    x[5] += 1
    assert distances._plain(x)[0].tolist() == [0, 0, 0, 0, 0, 400_000]
    y = np.random.default_rng(1).normal(size=(5, 500_000))
    y[3, 7] = np.inf
    found = distances.squared_distances(torch.from_numpy(y))
    assert bool(torch.isinf(found[3, :3]).all())
    assert bool(torch.isfinite(found[:3, :3]).all())
