"""Gradients in torch against central differences, at points where the rule is smooth."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.names import parse
from kappaguard.rules.nnm import NNM

NAMES = [
    "average",
    "cwmed",
    "cwtm",
    "gm",
    "krum",
    "multikrum",
    "mda",
    "meamed",
    "monna",
    "smea",
    "caf",
    "centered_clipping",
    "centered_clipping(tau=1.0)",
    "centered_clipping(tau=1.5,iterations=3)",
    "clipping+average",
    "clipping+gm",
    "clipping+krum",
    "arc+average",
    "arc+gm",
    "arc+cwtm",
    "nnm+average",
    "nnm+cwmed",
    "nnm+cwtm",
    "nnm+gm",
    "nnm+krum",
    "nnm+multikrum",
    "nnm+mda",
    "nnm+meamed",
    "nnm+caf",
    "bucketing+gm",
    "bucketing+caf",
    "nnm+nnm+gm",
    "bucketing+nnm+cwtm",
    "nnm+clipping+gm",
    "nnm+arc+meamed",
    "clipping+nnm+gm",
]
STEP = 1e-5


def cloud(seed, n=9, d=3):
    """Two groups with outliers: neighbour sets, ranks and clipped sets are clear of ties by far more than a step."""
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((n, d))
    x[:2] += 4 * generator.standard_normal(d)
    return x


def central_differences(rule, x, direction):
    """The derivative of <rule(x), direction> with respect to every entry of x, with NumPy alone."""
    slope = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        moved = x.copy()
        moved[index] += STEP
        above = rule(moved)
        moved[index] -= 2 * STEP
        slope[index] = np.sum((above - rule(moved)) * direction) / (2 * STEP)
    return slope


def gradient(rule, x, direction):
    tensor = torch.tensor(x, requires_grad=True)
    output = rule(tensor)
    (output * torch.tensor(direction)).sum().backward()
    return tensor.grad.numpy()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_against_central_differences(name, seed):
    x = cloud(seed)
    rule = parse(name, f=2)
    direction = np.random.default_rng(seed + 100).standard_normal(x.shape[-1])
    expected = central_differences(rule, x, direction)
    assert gradient(rule, x, direction) == pytest.approx(expected, abs=2e-6)
    assert np.abs(expected).max() > 1e-3


@pytest.mark.parametrize("name", ["gm", "caf", "nnm+gm", "clipping+gm", "arc+average", "cwtm", "krum", "meamed"])
@pytest.mark.parametrize(("n", "d"), [(5, 1), (6, 20), (4, 2)])
def test_other_shapes(name, n, d):
    if (name, d) in {("gm", 1), ("nnm+gm", 1), ("clipping+gm", 1)} and n % 2 == 0:
        pytest.skip("the median of an even number on a line is a midpoint")
    x = cloud(5, n, d)
    rule = parse(name, f=1)
    direction = np.random.default_rng(1).standard_normal(d)
    assert gradient(rule, x, direction) == pytest.approx(central_differences(rule, x, direction), abs=5e-6)


@pytest.mark.parametrize("name", NAMES)
def test_batches(name):
    batch = np.stack([[cloud(seed) for seed in (0, 1)], [cloud(seed) for seed in (2, 3)]])
    rule = parse(name, f=2)
    direction = np.random.default_rng(0).standard_normal((2, 2, 3))
    result = gradient(rule, batch, direction)
    for i, j in np.ndindex(2, 2):
        assert result[i, j] == pytest.approx(gradient(rule, batch[i, j], direction[i, j]), abs=1e-8)


@pytest.mark.parametrize("name", ["gm", "nnm+gm", "caf", "krum", "cwtm"])
def test_single_precision(name):
    x = cloud(1)
    rule = parse(name, f=2)
    tensor = torch.tensor(x, dtype=torch.float32, requires_grad=True)
    rule(tensor).sum().backward()
    assert tensor.grad.dtype == torch.float32
    assert tensor.grad.numpy() == pytest.approx(gradient(rule, x, np.ones(3)), abs=1e-3)


def test_of_a_pre_aggregation():
    x = torch.tensor(cloud(0), requires_grad=True)
    NNM(f=2)(x)[4].sum().backward()
    assert sorted(set(np.round(x.grad.numpy().ravel(), 12))) == [0, round(1 / 7, 12)]


def test_gm_at_a_vertex_follows_the_vertex():
    x = np.array([[0, 0], [1, 0], [-1, 0.1], [0.1, 1], [0, -1]], dtype=float)
    assert parse("gm")(x) == pytest.approx(x[0], abs=1e-15)
    grad = gradient(parse("gm"), x, np.array([2.0, 3.0]))
    assert grad == pytest.approx(np.array([[2, 3], [0, 0], [0, 0], [0, 0], [0, 0]]), abs=1e-12)


def test_gm_of_an_even_number_on_a_line():
    x = np.outer([0.0, 1, 3, 9], [1.0, 2])
    grad = gradient(parse("gm"), x, np.array([1.0, 0.0]))
    assert np.all(np.isfinite(grad))
    assert grad[:, 0].sum() == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
def test_infinite_vectors_do_not_spoil_the_gradient(name):
    if "average" in name or name.startswith(("monna", "centered")):
        pytest.skip("nothing is discarded, or the pivot is infinite")
    x = cloud(3)
    x[3] = np.inf
    grad = gradient(parse(name, f=2), x, np.ones(3))
    assert np.all(np.isfinite(np.delete(grad, 3, axis=0)))


def test_no_graph_is_kept_without_need():
    x = torch.tensor(cloud(0), requires_grad=True)
    with torch.no_grad():
        assert not parse("gm")(x).requires_grad
    assert parse("gm")(x).requires_grad
    assert not parse("gm")(x.detach()).requires_grad
