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
        for layer, parameters in zip(self.layers, self._parameters(theta), strict=True):
            x, _ = layer.forward(x, parameters, run)
        return x

    def gradients(self, theta: Tensor, x: Tensor, labels: Tensor, out: Tensor, run: Pass) -> Tensor:
        """Write every worker's gradient of its mean loss to out, (workers, d); return the losses, (workers,)."""
        import torch

        parameters = self._parameters(theta)
        kept = []
        for layer, own in zip(self.layers, parameters, strict=True):
            x, saved = layer.forward(x, own, run)
            kept.append(saved)
        samples = len(x) // run.workers
        logs = torch.log_softmax(x, dim=1)
        picked = logs.gather(1, labels[:, None])
        losses = -picked.view(run.workers, samples).mean(dim=1)
        gradient: Tensor | None = logs.exp_().scatter_add_(1, labels[:, None], torch.full_like(picked, -1.0))
        assert gradient is not None
        gradient /= samples
        places = self._parameters(out)
        for index in range(len(self.layers) - 1, -1, -1):
            assert gradient is not None
            gradient = self.layers[index].backward(
                gradient, kept[index], parameters[index], places[index], run, index == 0
            )
        return losses
