"""The two operations whose backward passes are written by hand, being quicker than torch's own: once per step, all
workers share the forward pass and the gradients of activations, and each gets gradients of parameters of its own.

Parameters come as (workers, ...), all rows being equal; so do their gradients, whose rows differ. Torch is needed to
import this module.
"""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

from kappaguard.training import native

FEW_CHANNELS = 4
"""Up to this many input channels the gradient is a product with the unfolded input; beyond, torch's own is quicker."""


class CompiledBlock(Function):
    """Convolution, rectifier and pooling as one compiled operation, see ``kappaguard.training.native``."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
        """The rectified largest of every 2 x 2 square of the convolution."""
        pooled, memory = native.forward(x, weights[0], biases[0])
        ctx.memory, ctx.weight, ctx.workers = memory, weights[0], len(weights)
        return pooled

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        """Of the input, and every worker's of kernels and biases."""
        return native.backward(gradient, ctx.memory, ctx.weight, ctx.workers, ctx.needs_input_grad[0])


class SharedConvolution(Function):
    """A convolution at one set of kernels; the gradients of these worker by worker."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
        """The convolution of all samples."""
        ctx.save_for_backward(x, weights)
        return torch.nn.functional.conv2d(x, weights[0], biases[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        """Of the input, and every worker's of kernels and biases."""
        x, weights = ctx.saved_tensors
        workers, weight = len(weights), weights[0]
        own: Tensor
        if x.shape[1] <= FEW_CHANNELS:
            own = _by_unfolding(gradient, x, workers, weight.shape[-1])
        elif x.device.type != "cpu":
            own = _by_groups(gradient, x, weight, workers)
        else:
            # on a CPU a loop is quicker than groups
            rows = zip(gradient.chunk(workers), x.chunk(workers), strict=True)
            own = torch.stack([_gradients(*each, weight, (False, True))[1] for each in rows])
        sums = gradient.sum(dim=(2, 3)).view(workers, -1, gradient.shape[1]).sum(dim=1)
        back = _gradients(gradient, x, weight, (True, False))[0] if ctx.needs_input_grad[0] else None
        return back, own.view(weights.shape), sums


def _by_unfolding(gradient: Tensor, x: Tensor, workers: int, kernel: int) -> Tensor:
    """The workers' gradients of kernels as a product with the unfolded input."""
    samples = len(x)
    windows = x.unfold(2, kernel, 1).unfold(3, kernel, 1).permute(0, 1, 4, 5, 2, 3)
    columns = windows.reshape(samples, x.shape[1] * kernel**2, math.prod(gradient.shape[2:]))
    products = torch.bmm(gradient.reshape(samples, gradient.shape[1], -1), columns.transpose(1, 2))
    return products.view(workers, samples // workers, -1).sum(dim=1)


def _by_groups(gradient: Tensor, x: Tensor, weight: Tensor, workers: int) -> Tensor:
    """All workers' gradients of kernels in one call, each worker a group of channels: the way for a GPU."""

    def side_by_side(values: Tensor) -> Tensor:
        samples, channels, height, width = values.shape
        grouped = values.view(workers, samples // workers, channels, height, width).transpose(0, 1)
        return grouped.reshape(samples // workers, workers * channels, height, width)

    kernels = weight.repeat(workers, 1, 1, 1)
    return _gradients(side_by_side(gradient), side_by_side(x), kernels, (False, True), workers)[1]


def _gradients(
    gradient: Tensor, x: Tensor, weight: Tensor, wanted: tuple[bool, bool], groups: int = 1
) -> tuple[Tensor, Tensor]:
    """torch's gradients of a convolution with respect to input and kernels, as far as wanted."""
    found = torch.ops.aten.convolution_backward(
        gradient, x, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], groups, [*wanted, False]
    )
    return cast("tuple[Tensor, Tensor]", found[:2])
