"""A network: layers one after the other, their parameters in one flat vector, negative log-likelihood at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape

if TYPE_CHECKING:
    from torch import Tensor

Statistics = list[tuple["Tensor", "Tensor"]]


@dataclass(frozen=True)
class Network:
    """Layers for samples of a given shape; the last one has one output per class."""

    layers: tuple[Layer, ...]
    shape: Shape

    @cached_property
    def shapes(self) -> list[Shape]:
        """The shape of a sample before each layer, and after the last."""
        shapes = [self.shape]
        for layer in self.layers:
            shapes.append(layer.output_shape(shapes[-1]))
        return shapes

    @cached_property
    def _parameter_shapes(self) -> list[list[Shape]]:
        """The shapes of each layer's parameters, in their order in the flat vector."""
        return [layer.parameter_shapes(shape) for layer, shape in zip(self.layers, self.shapes, strict=False)]

    @cached_property
    def _sizes(self) -> list[int]:
        return [math.prod(shape) for own in self._parameter_shapes for shape in own]

    @cached_property
    def dimension(self) -> int:
        """The number of parameters."""
        return sum(self._sizes)

    def initial(self, seed: int) -> Tensor:
        """A flat vector to start from, float64 on the CPU; the same for every device and dtype."""
        import torch

        generator = torch.Generator().manual_seed(seed)

        def uniform(shape: Shape) -> Tensor:
            return torch.rand(shape, generator=generator, dtype=torch.float64)

        parts = [
            part.reshape(-1)
            for layer, shape in zip(self.layers, self.shapes, strict=False)
            for part in layer.initial(shape, uniform)
        ]
        return torch.cat(parts)

    def statistics(self, like: Tensor) -> Statistics:
        """Running statistics to start from: mean zero and variance one."""
        import torch

        counts = [layer.channels(shape) for layer, shape in zip(self.layers, self.shapes, strict=False)]
        return [
            (
                torch.zeros(count, dtype=like.dtype, device=like.device),
                torch.ones(count, dtype=like.dtype, device=like.device),
            )
            for count in counts
            if count
        ]

    def _parameters(self, flat: Tensor) -> list[list[Tensor]]:
        """Each layer's parameters in vectors of shape (..., d)."""
        parts = iter(flat.split_with_sizes(self._sizes, dim=-1))
        batch = flat.shape[:-1]
        return [[next(parts).view(*batch, *shape) for shape in own] for own in self._parameter_shapes]

    def scores(self, theta: Tensor, x: Tensor, run: Pass) -> Tensor:
        """The outputs before the log-softmax, (samples, classes)."""
        return self._outputs(self._parameters(theta.expand(run.workers, -1)), x, run)

    def _outputs(self, parameters: list[list[Tensor]], x: Tensor, run: Pass) -> Tensor:
        for layer, own in zip(self.layers, parameters, strict=True):
            x = layer.forward(x, own, run)
        return x

    def gradients(self, theta: Tensor, x: Tensor, labels: Tensor, out: Tensor, run: Pass) -> Tensor:
        """Write every worker's gradient of its mean loss to out, (workers, d); return the losses, (workers,)."""
        import torch
        from torch.nn.functional import cross_entropy

        with torch.enable_grad():
            parameters = self._parameters(theta.detach().expand(run.workers, -1))
            leaves = [each.requires_grad_() for own in parameters for each in own]
            scores = self._outputs(parameters, x, run)
            losses = cross_entropy(scores, labels, reduction="none").view(run.workers, -1).mean(dim=1)
            found = torch.autograd.grad(losses.sum(), leaves)
        for place, gradient in zip((each for own in self._parameters(out) for each in own), found, strict=True):
            place.copy_(gradient)
        return losses.detach()
