"""C(channels): a convolution with kernel 5, stride 1 and no padding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from kappaguard.training.models.layer import Layer, Pass, Shape, uniform_start

if TYPE_CHECKING:
    from torch import Tensor

FEW_CHANNELS = 4
"""Up to this many input channels the gradient is a product with the unfolded input; beyond, torch's own is quicker."""


@dataclass(frozen=True)
class Convolution(Layer):
    """A two-dimensional convolution with a square kernel."""

    channels_out: int
    kernel: int = 5

    def output_shape(self, shape: Shape) -> Shape:
        """Height and width shrink by kernel - 1."""
        _, height, width = shape
        return (self.channels_out, height - self.kernel + 1, width - self.kernel + 1)

    def parameter_shapes(self, shape: Shape) -> list[Shape]:
        """Kernels and biases."""
        return [(self.channels_out, shape[0], self.kernel, self.kernel), (self.channels_out,)]

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Uniform in +-1/sqrt(channels x kernel^2)."""
        return uniform_start(self.parameter_shapes(shape), shape[0] * self.kernel**2, uniform)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, Tensor]:
        """The convolution."""
        from torch.nn.functional import conv2d

        return conv2d(x, parameters[0], parameters[1]), x

    def backward(
        self, gradient: Tensor, saved: Tensor, parameters: list[Tensor], out: list[Tensor], run: Pass, first: bool
    ) -> Tensor | None:
        """Per worker the kernels' gradients; the input's for all at once."""
        x, workers = saved, run.workers
        samples = len(x) // workers
        if x.shape[1] <= FEW_CHANNELS:
            out[0].copy_(self._by_unfolding(gradient, x, workers).view(out[0].shape))
        elif x.device.type != "cpu":
            out[0].copy_(self._by_groups(gradient, x, parameters[0], workers))
        else:
            for worker in range(workers):
                rows = slice(worker * samples, (worker + 1) * samples)
                out[0][worker].copy_(self._gradients(gradient[rows], x[rows], parameters[0], (False, True))[1])
        out[1].copy_(gradient.sum(dim=(2, 3)).view(workers, samples, -1).sum(dim=1))
        return None if first else self._gradients(gradient, x, parameters[0], (True, False))[0]

    def _by_unfolding(self, gradient: Tensor, x: Tensor, workers: int) -> Tensor:
        import torch

        samples, kernel = len(x), self.kernel
        windows = x.unfold(2, kernel, 1).unfold(3, kernel, 1).permute(0, 1, 4, 5, 2, 3)
        columns = windows.reshape(samples, x.shape[1] * kernel**2, math.prod(gradient.shape[2:]))
        products = torch.bmm(gradient.reshape(samples, self.channels_out, -1), columns.transpose(1, 2))
        return products.view(workers, samples // workers, -1).sum(dim=1)

    def _by_groups(self, gradient: Tensor, x: Tensor, weight: Tensor, workers: int) -> Tensor:
        """All workers in one call, each a group of channels: the way for a GPU; on a CPU a loop is quicker."""

        def side_by_side(values: Tensor) -> Tensor:
            samples, channels, height, width = values.shape
            grouped = values.view(workers, samples // workers, channels, height, width).transpose(0, 1)
            return grouped.reshape(samples // workers, workers * channels, height, width)

        kernels = weight.repeat(workers, 1, 1, 1)
        found = self._gradients(side_by_side(gradient), side_by_side(x), kernels, (False, True), workers)[1]
        return found.view(workers, *weight.shape)

    def _gradients(
        self, gradient: Tensor, x: Tensor, weight: Tensor, wanted: tuple[bool, bool], groups: int = 1
    ) -> tuple[Tensor, Tensor]:
        """torch's gradients with respect to input and kernels, as far as wanted."""
        import torch

        found = torch.ops.aten.convolution_backward(
            gradient, x, weight, None, [1, 1], [0, 0], [1, 1], False, [0, 0], groups, [*wanted, False]
        )
        return cast("tuple[Tensor, Tensor]", found[:2])
