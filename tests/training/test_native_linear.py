"""The compiled gradients of a fully connected layer against the definition in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.training import native
from kappaguard.training.models.layer import Pass
from kappaguard.training.models.linear import Linear

compiled = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")

SIZES = [(25, 320, 500), (25, 500, 10), (1, 1, 1), (1, 7, 3), (3, 8, 9), (7, 9, 8), (2, 33, 65), (23, 24, 64)]
SIZES += [(9, 1, 7), (5, 80, 1), (5, 81, 2), (4, 79, 63), (24, 160, 23), (2, 161, 8)]
SIZES += [(6, 49, 3), (2, 64, 4), (33, 231, 25), (64, 100, 129)]
"""Samples of one worker, inputs, outputs: a network for MNIST, and what fills vectors, panels and blocks or not."""
WORKERS, BEFORE, AFTER, UNTOUCHED = 3, 5, 2, -77.0


def inputs(samples: int, width: int, outputs: int, workers: int = WORKERS):
    """Gradient and input; about half of the gradient is zero, and of the first output all of it."""
    generator = torch.Generator().manual_seed(samples * width + outputs)
    x = torch.randn((workers * samples, width), generator=generator)
    gradient = torch.randn((workers * samples, outputs), generator=generator).relu_()
    gradient[:, 0] = 0 if outputs > 1 else 1
    return gradient, x


def places(rows, width: int, outputs: int):
    """Weights and biases within the workers' rows, as a network hands them to a layer."""
    end = BEFORE + width * outputs
    return [rows[:, BEFORE:end].view(len(rows), outputs, width), rows[:, end : end + outputs]]


def layer_gradients(gradient, x, workers: int = WORKERS):
    """Weights' and biases' gradients by the layer, and what it left of the rows they are in."""
    width, outputs = x.shape[1], gradient.shape[1]
    size = width * outputs + outputs
    rows = torch.full((workers, BEFORE + size + AFTER), UNTOUCHED, dtype=x.dtype)
    out = places(rows, width, outputs)
    nothing = Linear(outputs).backward(gradient, (x, tuple(x.shape)), [], out, Pass(workers), True)
    assert nothing is None
    return out[0], out[1], torch.cat([rows[:, :BEFORE], rows[:, BEFORE + size :]], dim=1)


def expected(gradient, x, workers: int = WORKERS):
    grouped = gradient.double().numpy().reshape(workers, -1, gradient.shape[1])
    seen = x.double().numpy().reshape(workers, -1, x.shape[1])
    return torch.from_numpy(np.einsum("wso,wsi->woi", grouped, seen)), torch.from_numpy(grouped.sum(axis=1))


def check(gradient, x, workers: int = WORKERS):
    weights, biases, others = layer_gradients(gradient, x, workers)
    right = expected(gradient, x, workers)
    torch.testing.assert_close(weights.double(), right[0], rtol=1e-5, atol=1e-5, equal_nan=True)
    torch.testing.assert_close(biases.double(), right[1], rtol=1e-5, atol=1e-5, equal_nan=True)
    assert bool((others == UNTOUCHED).all())


@compiled
@pytest.mark.parametrize("size", SIZES)
def test_compiled_gradients_are_the_definition_and_nothing_else_is_written(size, monkeypatch):
    monkeypatch.setattr(torch, "bmm", None)
    check(*inputs(*size))


@pytest.mark.parametrize("size", SIZES[:4])
def test_what_is_not_compiled_is_the_same(size, monkeypatch):
    monkeypatch.setattr(native, "_compiled", lambda: None)
    gradient, x = inputs(*size)
    assert not native.linear(gradient, x, places(torch.zeros((WORKERS, x.shape[1] * 600 + 600)), *size[1:]))
    check(gradient, x)


@compiled
@pytest.mark.parametrize("samples", [1, 25])
def test_a_worker_does_not_depend_on_the_others(samples):
    gradient, x = inputs(samples, 320, 70)
    together = layer_gradients(gradient, x)
    for worker in range(WORKERS):
        own = slice(worker * samples, (worker + 1) * samples)
        alone = layer_gradients(gradient[own], x[own], 1)
        assert torch.equal(alone[0][0], together[0][worker])
        assert torch.equal(alone[1][0], together[1][worker])


@compiled
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_reach_what_they_are_a_term_of(value):
    """Also an input's whose gradient is zero: that product is NaN."""
    for size in SIZES[3:]:
        gradient, x = inputs(*size)
        x[0, size[1] // 2] = value
        gradient[-1, -1] = value
        with np.errstate(invalid="ignore"):
            check(gradient, x)
        weights, biases, _ = layer_gradients(gradient, x)
        assert not weights[0, :, size[1] // 2].isfinite().any()
        assert not weights[-1, -1].isfinite().any()
        assert not biases[-1, -1].isfinite()
        assert weights[1:-1].isfinite().all()


@compiled
def test_other_dtypes_many_samples_and_parameters_apart_are_left_to_torch():
    gradient, x = inputs(3, 7, 5)
    rows = torch.zeros((WORKERS, 100))
    assert not native.linear(gradient.double(), x.double(), places(rows.double(), 7, 5))
    assert not native.linear(gradient, x.double(), places(rows, 7, 5))
    assert not native.linear(gradient[:0], x[:0], places(rows, 7, 5))
    assert not native.linear(gradient[:0], x[:0], places(rows[:0], 7, 5))
    assert not native.linear(gradient, x[:, :0], places(rows, 0, 5))
    assert not native.linear(gradient, x, places(rows[:, ::2].t().contiguous().t(), 7, 5))
    apart = torch.zeros((WORKERS, 7, 5)).transpose(1, 2)
    assert not native.linear(gradient, x, [apart, rows[:, :5]])
    assert not native.linear(gradient, x, [rows[:, :35].view(-1, 5, 7), rows[:, :10:2]])
    assert not rows.any()
    assert not apart.any()
    check(*(each.double() for each in inputs(3, 7, 5)))
    check(*inputs(native.MOST_SAMPLES + 1, 7, 5))


@compiled
def test_inputs_apart_are_taken_together(monkeypatch):
    gradient, x = inputs(6, 40, 10)
    right = layer_gradients(gradient[:, ::2].contiguous(), x[:, ::2].contiguous())
    monkeypatch.setattr(torch, "bmm", None)
    found = layer_gradients(gradient[:, ::2], x[:, ::2])
    assert all(torch.equal(one, other) for one, other in zip(found, right, strict=True))


@compiled
def test_a_wrong_call_touches_nothing():
    blocks = native._compiled()
    gradient, x = (each.numpy() for each in inputs(4, 7, 5))
    rows = np.zeros((WORKERS, 45), np.float32)
    weights, biases = rows[:, :35].reshape(WORKERS, 5, 7), rows[:, 35:40]
    assert np.shares_memory(weights, rows)
    good = (WORKERS, 4, 7, 5)
    sizes = [(WORKERS, 3, 7, 5), (2, 6, 7, 5), (6, 2, 7, 5), (WORKERS, 4, 5, 7), (WORKERS, 4, 7, 4)]
    sizes += [(*good[:place], size, *good[place + 1 :]) for place in range(4) for size in (0, -1, 1 << 20, 1 << 62)]
    for wrong in sizes:
        with pytest.raises(ValueError, match=r"out of bounds|are needed|is not"):
            blocks.linear(*wrong, gradient, x, weights, biases)
    constant = weights.copy()
    constant.flags.writeable = False
    others = [weights[:2], weights[:, :4], weights[:, :, ::-1], weights[::-1], weights.transpose(0, 2, 1)]
    others += [weights.astype(np.float64), weights.view(np.uint8), weights[0, 0, 0:1], biases, constant]
    others += [np.lib.stride_tricks.as_strided(weights, (WORKERS, 5, 7), (4, 28, 4)), np.float32(1), None]
    for other in others:
        with pytest.raises((ValueError, TypeError, BufferError)):
            blocks.linear(*good, gradient, x, other, biases)
        with pytest.raises((ValueError, TypeError, BufferError)):
            blocks.linear(*good, gradient, x, weights, weights if other is biases else other)
    for wrong in (gradient[1:], gradient[:, ::-1], gradient.astype(np.float64), None):
        with pytest.raises((ValueError, TypeError, BufferError)):
            blocks.linear(*good, wrong, x, weights, biases)
    with pytest.raises(TypeError):
        blocks.linear(*good, gradient, x, weights)
    assert not rows.any()
    blocks.linear(*good, gradient, x, weights, biases)
    assert weights.any()
    assert not rows[:, 40:].any()
