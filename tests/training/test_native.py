"""The compiled block against torch's own layers and automatic differentiation in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from kappaguard.training import native
from kappaguard.training.messages import send
from kappaguard.training.models.block import Block
from kappaguard.training.models.layer import Pass

compiled = pytest.mark.skipif(not native.available(), reason="the block is not compiled or switched off")

DIRECT = [(1, 28, 28, 20), (3, 6, 14, 1), (64, 8, 6, 33), (1, 6, 6, 7), (2, 10, 8, 3), (4, 8, 10, 12), (5, 8, 8, 4)]
DIRECT += [(8, 6, 6, 8), (9, 6, 8, 13), (16, 6, 6, 28)]
MANY = [(20, 12, 12, 20), (20, 12, 12, 50), (8, 8, 8, 8), (8, 8, 12, 1), (9, 16, 8, 9), (33, 12, 12, 17)]
MANY += [(24, 8, 20, 58), (16, 12, 8, 3)]
"""Channels, height, width, outputs: the networks for MNIST, and sizes that fill vectors, half of them, or none."""
WORKERS, BATCH = 2, 3


def inputs(channels: int, height: int, width: int, outputs: int, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((WORKERS * BATCH, channels, height, width), generator=generator)
    # a constant background, as in MNIST: of equal numbers the first one wins
    x[..., : width // 2] = -0.5
    weight = torch.randn((outputs, channels, 5, 5), generator=generator) / (5 * channels**0.5)
    bias = torch.randn(outputs, generator=generator) / 4
    gradient = torch.randn((len(x), outputs, (height - 4) // 2, (width - 4) // 2), generator=generator)
    return x, weight, bias, gradient


def assert_near(found, exact):
    """Within 1e-5 of the largest entry."""
    torch.testing.assert_close(found.double(), exact, rtol=0, atol=1e-5 * float(exact.abs().max()))


def expected(x, weight, bias, gradient, pool):
    """Output, and the gradients of input, kernels and biases, the last two per worker."""
    point = x.double().requires_grad_()
    output = pool(functional.conv2d(point, weight.double(), bias.double()))
    output.backward(gradient.double())
    own = []
    for worker in range(WORKERS):
        rows = slice(worker * BATCH, (worker + 1) * BATCH)
        parameters = [weight.double().requires_grad_(), bias.double().requires_grad_()]
        convolved = functional.conv2d(x.double(), *parameters)
        pool(convolved)[rows].backward(gradient[rows].double())
        own.append([each.grad for each in parameters])
    return output.detach(), point.grad, own


def first_largest(convolved):
    """Pooling as torch has it: of equal numbers the first one wins."""
    return functional.max_pool2d(torch.relu(convolved), 2)


def squares_of(convolved):
    """The four places of every square, row by row, and nothing as a fifth."""
    four = [convolved[..., i::2, j::2] for i in (0, 1) for j in (0, 1)]
    return torch.stack([*four, torch.zeros_like(four[0])], dim=-1)


def block_gradients(x, weight, bias, gradient, first=False):
    """The same by the block."""
    workers = len(x) // BATCH
    point = x.clone().requires_grad_(not first)
    parameters = [each.expand(workers, *each.shape).detach().requires_grad_() for each in (weight, bias)]
    output = Block(len(weight)).forward(point, parameters, Pass(workers))
    output.backward(gradient)
    return output.detach(), point.grad, [each.grad for each in parameters]


def assert_gradients(given, pool):
    output, back, own = expected(*given, pool)
    found, found_back, found_own = block_gradients(*given)
    assert_near(found, output)
    assert_near(found_back, back)
    for worker in range(WORKERS):
        assert_near(found_own[0][worker], own[worker][0])
        assert_near(found_own[1][worker], own[worker][1])


@compiled
@pytest.mark.parametrize("shape", DIRECT)
def test_the_compiled_block_is_the_three_layers(shape):
    given = inputs(*shape)
    assert native.applies(given[0], 5)
    assert_gradients(given, first_largest)


@compiled
@pytest.mark.parametrize("shape", MANY)
def test_with_many_channels_the_winner_is_one_of_those_that_rounding_cannot_tell_apart(shape):
    x, weight, bias, _ = given = inputs(*shape)
    _, kept = native.forward(x, weight, bias)
    winners = kept.winners.permute(0, 3, 1, 2).long()[..., None]
    squares = squares_of(functional.conv2d(x.double(), weight.double(), bias.double()))
    short = squares.amax(dim=-1) - squares.gather(-1, winners)[..., 0]
    assert float(short.max()) <= 1e-5 * float(squares.max())
    assert float((short == 0).double().mean()) > 0.9
    assert_gradients(given, lambda convolved: squares_of(convolved).gather(-1, winners)[..., 0])


@compiled
@pytest.mark.parametrize("shape", [DIRECT[0], DIRECT[2], MANY[0], MANY[4]])
def test_a_worker_does_not_depend_on_the_others_nor_on_what_else_is_asked_for(shape):
    given = inputs(*shape)
    found, back, own = block_gradients(*given)
    _, nothing, again = block_gradients(*given, first=True)
    assert nothing is None
    assert torch.equal(again[0], own[0])
    x, weight, bias, gradient = given
    rows = slice(BATCH, 2 * BATCH)
    output, back_alone, alone = block_gradients(x[rows], weight, bias, gradient[rows])
    assert torch.equal(output, found[rows])
    assert torch.equal(back_alone, back[rows])
    assert torch.equal(alone[0][0], own[0][1])
    assert torch.equal(alone[1][0], own[1][1])


@pytest.mark.parametrize("shape", [DIRECT[0], MANY[0]])
def test_without_the_compiled_block_the_result_is_the_same(shape, monkeypatch):
    monkeypatch.setattr(native, "_compiled", lambda: None)
    given = inputs(*shape)
    assert not native.applies(given[0], 5)
    assert_gradients(given, first_largest)


@compiled
@pytest.mark.parametrize("shape", [DIRECT[0], MANY[0]])
def test_what_is_not_positive_gets_no_gradient_and_a_nan_is_seen(shape):
    x, weight, bias, gradient = inputs(*shape)
    output, back, own = block_gradients(x, weight, bias - 1e6, gradient)
    assert not output.any()
    assert not back.any()
    assert not own[0].any()
    x[0, 0, 5, 5] = float("nan")
    output, _, _ = block_gradients(x, weight, bias, gradient)
    assert output[0].isnan().any()
    assert not output[1:].isnan().any()


@compiled
def test_other_kernels_dtypes_and_sizes_are_left_to_the_layers():
    x = torch.zeros((2, 1, 28, 28))
    assert not native.applies(x, 3)
    assert not native.applies(x.double(), 5)
    assert not native.applies(x[..., :27], 5)
    assert not native.applies(x[..., :4], 5)


@pytest.fixture
def double_by_default():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@compiled
def test_the_block_does_not_depend_on_the_default_dtype(double_by_default):
    given = [each.float() for each in inputs(1, 28, 28, 20)]
    assert block_gradients(*given)[0].dtype == torch.float32
    assert_gradients(given, first_largest)


@compiled
@pytest.mark.parametrize("shape", [DIRECT[0], MANY[0]])
def test_a_wrong_call_touches_nothing(shape):
    blocks = native._compiled()
    channels, height, width, outputs = shape
    x, weight, bias, gradient = (np.ascontiguousarray(each.numpy()) for each in inputs(*shape))
    good = (6, height, width, channels, outputs)
    pooled, winners = np.zeros(gradient.shape, np.float32), np.zeros(gradient.shape, np.uint8)
    rows = weight.size + outputs
    out, back = np.zeros((2, rows), np.float32), np.zeros_like(x)
    for sizes in [(0, *good[1:]), (7, *good[1:]), (6, 27, *good[2:]), (6, 4, *good[2:]), (1 << 40, *good[1:])]:
        with pytest.raises((ValueError, OverflowError)):
            blocks.forward(*sizes, x, weight, bias, pooled, winners)
        with pytest.raises((ValueError, OverflowError)):
            blocks.backward(*sizes, 1, x, weight, pooled, winners, out, back)
    for wrong in (winners[:5], np.zeros((7, *winners.shape[1:]), np.uint8), winners.astype(np.float32)):
        with pytest.raises(ValueError, match=f"{winners.size} in items of 1 are needed"):
            blocks.forward(*good, x, weight, bias, pooled, wrong)
    with pytest.raises(ValueError, match=f"in items of 8, where {4 * pooled.size} in items of 4"):
        blocks.forward(*good, x, weight, bias, pooled.astype(np.float64), winners)
    with pytest.raises(ValueError, match=f"where {4 * x.size} in items of 4"):
        blocks.forward(*good, x.ravel()[1:], weight, bias, pooled, winners)
    with pytest.raises(ValueError, match="are needed"):
        blocks.backward(*good, 2, x.ravel()[1:], weight, pooled, winners, out, back)
    with pytest.raises(ValueError, match="evenly"):
        blocks.backward(*good, 4, x, weight, pooled, winners, out, back)
    with pytest.raises(ValueError, match=f"{8 * rows} bytes in items of 4, where {12 * rows}"):
        blocks.backward(*good, 3, x, weight, pooled, winners, out, back)
    with pytest.raises(TypeError):
        blocks.forward(*good, x, weight, bias, pooled)
    for place in (0, winners.size - 1):
        nobody = winners.copy()
        nobody.flat[place] = 5
        with pytest.raises(ValueError, match="a winner is not a place of its window"):
            blocks.backward(*good, 2, x, weight, pooled, nobody, out, back)
    assert not any(each.any() for each in (pooled, winners, out, back))


@pytest.mark.parametrize("dimension", [1, 31, 32, 1024, 5000])
@pytest.mark.parametrize("clip", [None, 2.0, 1e6])
@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_what_is_sent_is_clipped_and_averaged_over_the_steps(dimension, clip, decay):
    """Against the definition in float64; the second row is short and, without decay, not clipped."""
    generator = torch.Generator().manual_seed(dimension)
    gradients = torch.randn((3, dimension), generator=generator) * torch.tensor([[100.0], [1e-2], [3.0]])
    messages = torch.randn((3, dimension), generator=generator)
    theta = torch.randn(dimension, generator=generator)
    whole = gradients.double() + decay * theta.double()
    shrunk = torch.tensor([1.0 if clip is None else min(1.0, clip / float(row.norm())) for row in whole]).double()
    right = 0.9 * messages.double() + 0.1 * shrunk[:, None] * whole
    square = send(messages, gradients, theta, decay, 0.9, clip)
    assert square == pytest.approx(float((right**2).sum()), rel=1e-5)
    torch.testing.assert_close(messages.double(), right, rtol=1e-5, atol=1e-5)


def test_a_row_of_infinite_square_is_clipped_all_the_same():
    gradients = torch.ones((2, 40))
    gradients[0, 7] = 1e30
    messages, theta = torch.zeros((2, 40)), torch.zeros(40)
    assert send(messages, gradients, theta, 0.0, 0.5, 1.0) == pytest.approx(2 * 0.25)
    assert messages[0, 7] == pytest.approx(0.5)
    assert messages[1].norm() == pytest.approx(0.5)
