"""Infinite and huge Byzantine entries: a rule that can discard them does, at every size."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.names import parse

FAR = 1e7
"""Far enough that no rule that chooses vectors chooses one of these, near enough for ordinary arithmetic."""
CHOOSERS = [
    "cwmed",
    "cwtm",
    "meamed",
    "krum",
    "multikrum",
    "mda",
    "monna",
    "smea",
    "nnm+cwmed",
    "nnm+cwtm",
    "nnm+krum",
    "nnm+multikrum",
    "nnm+mda",
    "nnm+meamed",
    "nnm+nnm+krum",
    "nnm+smea",
    "bucketing(s=1)+krum",
    "bucketing(s=1)+cwtm",
    "bucketing(s=2)+krum",
    "bucketing(s=2)+cwmed",
]
SMOOTH = ["gm", "caf", "nnm+gm", "nnm+caf", "bucketing(s=1)+gm"]
CLIPPERS = ["clipping+cwtm", "clipping+gm", "arc+krum", "arc+cwtm", "arc+gm", "centered_clipping"]
SIZES = {
    "small": (11, 4, 3),
    "even": (10, 3, 4),
    "one coordinate": (9, 4, 1),
    "large": (11, 4, 700),
    "many": (40, 6, 60),
}
HUGE = [1e20, 1e100, 1e150, 1e153, 1e154, 1e155, 1e200, 1e300, 1e308, 1.7e308, np.inf]


def honest_cloud(n, d, seed=0):
    return np.random.default_rng([seed, n, d]).standard_normal((n, d))


def cases(name, n, f, d):
    """Directions in which the Byzantine vectors go: (f, d) matrices of entries -1, 0 and 1."""
    generator = np.random.default_rng(5)
    yield "together", np.ones((f, d))
    yield "apart", np.where(np.arange(f)[:, None] % 2, 1.0, -1.0) * np.ones((f, d))
    signs = generator.choice([-1.0, 0.0, 1.0], (f, d))
    signs[np.arange(f), generator.integers(d, size=f)] = 1.0
    yield "some entries", signs


def attacked(x, f, signs, size):
    """Vectors 1 .. f (the pivot of monna stays) moved in the given directions to the given size."""
    moved = x.copy()
    part = moved[1 : f + 1]
    part[signs != 0] = signs[signs != 0] * size
    return moved


def fits(name, n, f):
    return "s=2" not in name or 2 * f < -(-n // 2)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", CHOOSERS)
def test_choosers_choose_as_if_the_vectors_were_merely_far(name, size):
    n, f, d = SIZES[size]
    f = min(f, 2) if "smea" in name and n > 20 else f
    if not fits(name, n, f):
        f = 2
    x = honest_cloud(n, d)
    rule = parse(name, f=f)
    for kind, signs in cases(name, n, f, d):
        expected = rule(attacked(x, f, signs, FAR))
        assert np.abs(expected).max() < FAR / 100
        for huge in HUGE:
            result = rule(attacked(x, f, signs, huge))
            assert np.abs(result - expected).max() <= 1e-6, (kind, huge)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*SMOOTH, *CLIPPERS])
def test_all_others_stay_within_reach_of_the_honest_vectors(name, size):
    """gm feels the direction of a far vector and forgets an infinite one; both outputs are near the honest ones."""
    n, f, d = SIZES[size]
    x = honest_cloud(n, d)
    honest = np.delete(x, np.arange(1, f + 1), axis=0)
    centre = honest.mean(axis=0)
    radius = np.linalg.norm(honest - centre, axis=1).max()
    limit = 101.0 if name == "centered_clipping" else radius * 2 * n / (n - 2 * f) + np.linalg.norm(centre)
    rule = parse(name, f=f)
    for kind, signs in cases(name, n, f, d):
        for huge in (FAR, *HUGE):
            result = rule(attacked(x, f, signs, huge))
            assert np.all(np.isfinite(result)), (kind, huge)
            assert np.linalg.norm(result - centre) <= limit, (kind, huge)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("huge", [1e20, 1e100, 1e150])
def test_gm_feels_the_direction_of_a_far_vector_alone(size, huge):
    n, f, d = SIZES[size]
    x = honest_cloud(n, d)
    for kind, signs in cases("gm", n, f, d):
        expected = parse("gm")(attacked(x, f, signs, 1e12))
        assert np.abs(parse("gm")(attacked(x, f, signs, huge)) - expected).max() <= 1e-7, kind


@pytest.mark.parametrize("size", SIZES)
def test_gm_and_caf_forget_infinite_vectors(size):
    n, f, d = SIZES[size]
    x = honest_cloud(n, d)
    for _, signs in cases("gm", n, f, d):
        without = np.delete(x, np.arange(1, f + 1), axis=0)
        infinite = attacked(x, f, signs, np.inf)
        assert parse("gm")(infinite) == pytest.approx(parse("gm")(without), abs=1e-9)
        best = parse("caf", f=f)(infinite)
        assert (
            np.linalg.norm(best - without.mean(axis=0)) <= np.linalg.norm(without - without.mean(axis=0), axis=1).max()
        )


@pytest.mark.parametrize("huge", [1e20, 1e30, 3e38, np.inf])
@pytest.mark.parametrize("name", CHOOSERS)
def test_single_precision(name, huge):
    n, f, d = 11, 2, 700
    x = honest_cloud(n, d).astype(np.float32)
    rule = parse(name, f=f)
    for kind, signs in cases(name, n, f, d):
        expected = rule(attacked(x, f, signs, 1e5))
        result = rule(attacked(x, f, signs, huge))
        assert result.dtype == np.float32
        assert np.abs(result - expected).max() <= 1e-5, kind


@pytest.mark.parametrize("gradient", [False, True], ids=["plain", "gradient"])
@pytest.mark.parametrize("name", [*CHOOSERS, *SMOOTH, *CLIPPERS])
def test_torch_agrees_with_numpy(name, gradient):
    n, f, d = 11, 2, 5
    x = honest_cloud(n, d)
    rule = parse(name, f=f)
    for kind, signs in cases(name, n, f, d):
        for huge in (1e20, 1e155, 1e308, np.inf):
            moved = attacked(x, f, signs, huge)
            result = rule(torch.tensor(moved, requires_grad=gradient)).detach().numpy()
            assert np.abs(result - rule(moved)).max() <= 1e-6, (kind, huge)


@pytest.mark.parametrize("name", [*CHOOSERS, *SMOOTH, *CLIPPERS])
def test_batches_with_one_infinite_item(name):
    n, f, d = 11, 2, 5
    rule = parse(name, f=f)
    signs = np.ones((f, d))
    items = [attacked(honest_cloud(n, d, seed), f, signs, size) for seed, size in enumerate((0.0, np.inf, 1e200, 3.0))]
    looped = [rule(item) for item in items]
    assert np.abs(rule(np.stack(items)) - np.stack(looped)).max() <= 1e-8


@pytest.mark.parametrize("d", [3, 3000])
def test_the_average_tells_that_it_is_infinite(d):
    x = honest_cloud(5, d)
    x[2, 0], x[3, 1] = np.inf, -np.inf
    result = parse("average")(x)
    assert result[0] == np.inf
    assert result[1] == -np.inf
    assert np.all(np.isfinite(result[2:]))


@pytest.mark.parametrize("name", ["cwmed", "cwtm", "meamed", "krum", "average", "gm", "nnm+krum"])
@pytest.mark.parametrize("d", [3, 3000])
def test_honest_vectors_whose_squares_are_far_beyond_the_floats(name, d):
    x = honest_cloud(9, d)
    rule = parse(name, f=2)
    expected = rule(x / np.abs(x).max())
    top = 1e300
    result = rule(x / np.abs(x).max() * top)
    assert np.abs(result / top - expected).max() <= 1e-9
