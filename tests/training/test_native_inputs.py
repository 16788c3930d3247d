"""The compiled gradient of a fully connected layer's inputs against the definition in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.training import native
from kappaguard.training.models.layer import Pass
from kappaguard.training.models.linear import Linear

pytestmark = pytest.mark.skipif(not native.available(), reason="the kernels are not compiled or switched off")

SIZES = [(175, 320, 500), (1, 1, 1), (1, 7, 3), (3, 8, 9), (2, 33, 65), (9, 1, 7), (5, 80, 1), (5, 81, 64), (4, 79, 63)]
SIZES += [(24, 160, 128), (2, 161, 129), (33, 231, 25), (64, 100, 200)]
"""Samples, inputs, outputs: a network for MNIST, and what fills vectors, panels and blocks or not."""


def given(samples: int, inputs: int, outputs: int):
    """A gradient of which about half is zero, the first number for certain, and weights."""
    generator = np.random.default_rng([samples, inputs, outputs])
    gradient = np.maximum(generator.standard_normal((samples, outputs)), 0).astype(np.float32)
    gradient[0, 0] = 0
    gradient[:, ::2] *= generator.random((samples, len(range(0, outputs, 2)))) < 0.5
    return gradient, generator.standard_normal((outputs, inputs)).astype(np.float32)


def compiled_product(gradient, weight):
    out = np.full((len(gradient), weight.shape[1]), np.float32(7))
    done = native._compiled().linear_inputs(*out.shape, len(weight), gradient, weight, out)
    return out, done


@pytest.mark.parametrize("size", SIZES)
def test_it_is_the_product(size):
    gradient, weight = given(*size)
    out, done = compiled_product(gradient, weight)
    assert done
    right = gradient.astype(np.float64) @ weight.astype(np.float64)
    terms = np.abs(gradient).astype(np.float64) @ np.abs(weight).astype(np.float64)
    assert np.all(np.abs(out - right) <= size[2] * np.finfo(np.float32).eps * terms)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_reach_what_they_are_a_term_of(value):
    """Also a weight's whose gradient is zero: that product is NaN."""
    for size in SIZES[3:]:
        gradient, weight = given(*size)
        weight[0, -1] = value
        gradient[-1, -1] = value
        out, done = compiled_product(gradient, weight)
        assert done
        with np.errstate(invalid="ignore"):
            right = gradient.astype(np.float64) @ weight.astype(np.float64)
        assert np.array_equal(np.isnan(out), np.isnan(right))
        assert np.isnan(out[0, -1])
        assert not np.isfinite(out[-1]).any()


def test_a_dense_gradient_is_left_to_torch():
    gradient, weight = given(20, 100, 90)
    assert compiled_product(gradient + 1, weight)[1] is False
    assert native.linear_inputs(torch.from_numpy(gradient + 1), torch.from_numpy(weight)) is None
    found = native.linear_inputs(torch.from_numpy(gradient), torch.from_numpy(weight))
    np.testing.assert_allclose(found, gradient @ weight, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kind", ["double", "few outputs", "few inputs", "no samples"])
def test_the_rest_is_left_to_torch(kind):
    gradient, weight = map(torch.from_numpy, given(20, 100, 90))
    match kind:
        case "double":
            gradient, weight = gradient.double(), weight.double()
        case "few outputs":
            gradient, weight = gradient[:, :10], weight[:10]
        case "few inputs":
            weight = weight[:, :10]
        case "no samples":
            gradient = gradient[:0]
    assert native.linear_inputs(gradient, weight) is None


@pytest.mark.parametrize("dense", [False, True])
def test_the_layer_gives_it_in_the_shape_of_its_input(dense):
    gradient, weight = map(torch.from_numpy, given(12, 96, 80))
    gradient = gradient + 1 if dense else gradient
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((12, 6, 4, 4)).astype(np.float32))
    out = [torch.empty((3, 80, 96)), torch.empty((3, 80))]
    back = Linear(80).backward(gradient, (x.reshape(12, -1), tuple(x.shape)), [weight], out, Pass(3), False)
    right = (gradient.double() @ weight.double()).view(x.shape)
    torch.testing.assert_close(back.double(), right, rtol=0, atol=1e-4)


def test_a_wrong_call_touches_nothing():
    gradient, weight = given(4, 7, 5)
    call, out, good = native._compiled().linear_inputs, np.zeros((4, 7), np.float32), (4, 7, 5)
    sizes = [(3, 7, 5), (4, 5, 7), (4, 7, 4), (8, 7, 5)]
    sizes += [(*good[:place], size, *good[place + 1 :]) for place in range(3) for size in (0, -1, 1 << 20, 1 << 62)]
    for wrong in sizes:
        with pytest.raises(ValueError, match=r"out of bounds|are needed"):
            call(*wrong, gradient, weight, out)
    constant = out.copy()
    constant.flags.writeable = False
    for other in (out[1:], out[:, ::-1], out.astype(np.float64), constant, None):
        with pytest.raises((ValueError, TypeError, BufferError)):
            call(*good, gradient, weight, other)
    for other in (weight[1:], weight.astype(np.float64), weight[::-1], None):
        with pytest.raises((ValueError, TypeError, BufferError)):
            call(*good, gradient, other, out)
    assert not out.any()
    assert call(*good, gradient, weight, out)
    assert out.any()
