"""C(channels)-R-M: convolution, rectifier and pooling, which the networks for MNIST are made of, as one layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training import native
from kappaguard.training.models.convolution import Convolution
from kappaguard.training.models.elementwise import Pool, Rectifier
from kappaguard.training.models.layer import Layer, Pass, Shape

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Block(Layer):
    """The rectified largest of every 2 x 2 square of a convolution; R and M commute, and M first is quicker.

    Compiled where that applies (``kappaguard.training.native``), else the three layers one by one.
    """

    channels_out: int
    kernel: int = 5

    @property
    def _layers(self) -> tuple[Layer, ...]:
        return (Convolution(self.channels_out, self.kernel), Pool(), Rectifier())

    def output_shape(self, shape: Shape) -> Shape:
        """Half of what the convolution leaves."""
        for layer in self._layers:
            shape = layer.output_shape(shape)
        return shape

    def parameter_shapes(self, shape: Shape) -> list[Shape]:
        """The shapes of kernels and biases."""
        return self._layers[0].parameter_shapes(shape)

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Kernels and biases as the convolution starts."""
        return self._layers[0].initial(shape, uniform)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """Convolution, pooling and rectifier of all samples."""
        if native.applies(x, self.kernel):
            from kappaguard.training.models.operations import CompiledBlock

            pooled: Tensor = CompiledBlock.apply(x, *parameters)  # type: ignore[no-untyped-call]  # of torch
            return pooled
        for layer in self._layers:
            x = layer.forward(x, parameters, run)
        return x
