"""C(channels): a convolution with kernel 5, stride 1 and no padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape, uniform_start

if TYPE_CHECKING:
    from torch import Tensor


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
        """The shapes of kernels and biases."""
        return [(self.channels_out, shape[0], self.kernel, self.kernel), (self.channels_out,)]

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Uniform in +-1/sqrt(channels x kernel^2)."""
        return uniform_start(self.parameter_shapes(shape), shape[0] * self.kernel**2, uniform)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """The convolution of all samples."""
        from kappaguard.training.models.operations import SharedConvolution

        convolved: Tensor = SharedConvolution.apply(x, *parameters)  # type: ignore[no-untyped-call]  # of torch
        return convolved
