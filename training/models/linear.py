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
        """W and b."""
        return [(self.outputs, math.prod(shape)), (self.outputs,)]

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Uniform in +-1/sqrt(inputs)."""
        return uniform_start(self.parameter_shapes(shape), math.prod(shape), uniform)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, tuple[Tensor, Shape]]:
        """W x + b."""
        import torch

        weight, bias = parameters
        flat = x.reshape(len(x), -1)
        return torch.addmm(bias, flat, weight.t()), (flat, tuple(x.shape))

    def backward(
        self,
        gradient: Tensor,
        saved: tuple[Tensor, Shape],
        parameters: list[Tensor],
        out: list[Tensor],
        run: Pass,
        first: bool,
    ) -> Tensor | None:
        """Per worker, the products of outputs' gradients and inputs."""
        import torch

        flat, shape = saved
        grouped = gradient.view(run.workers, -1, self.outputs)
        torch.bmm(grouped.transpose(1, 2), flat.view(run.workers, -1, flat.shape[1]), out=out[0])
        out[1].copy_(grouped.sum(dim=1))
        return None if first else (gradient @ parameters[0]).view(shape)
