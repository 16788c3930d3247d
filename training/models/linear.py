"""L(outputs): a fully connected layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape, uniform_start

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Linear(Layer):
    """y = W x + b on the flattened input."""

    outputs: int

    def output_shape(self, shape: Shape) -> Shape:
        """One number per output."""
        return (self.outputs,)

    def parameter_shapes(self, shape: Shape) -> list[Shape]:
        """The shapes of W and b."""
        return [(self.outputs, math.prod(shape)), (self.outputs,)]

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Uniform in +-1/sqrt(inputs)."""
        return uniform_start(self.parameter_shapes(shape), math.prod(shape), uniform)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """W x + b for all samples."""
        import torch

        weights, biases = parameters
        grouped = x.reshape(run.workers, len(x) // run.workers, -1)
        return torch.baddbmm(biases[:, None], grouped, weights.transpose(1, 2)).reshape(len(x), -1)
