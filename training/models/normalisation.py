"""B: batch normalisation, every worker with the statistics of its own samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class BatchNorm(Layer):
    """(x - mean)/sqrt(variance + epsilon) per channel, scaled and shifted by two parameters.

    While training, mean and variance are those of the worker's own samples; in evaluation they are the running ones,
    to which every step adds the average over the workers (the variance with divisor count - 1, as torch does).
    """

    epsilon: float = 1e-5

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of the input."""
        return shape

    def parameter_shapes(self, shape: Shape) -> list[Shape]:
        """The shapes of scale and shift."""
        return [(shape[0],), (shape[0],)]

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Scale one and shift zero."""
        like = uniform((shape[0],))
        return [like * 0 + 1, like * 0]

    def channels(self, shape: Shape) -> int:
        """All channels have running statistics."""
        return shape[0]

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """Normalised, scaled and shifted."""
        samples, channels, height, width = x.shape
        grouped = x.view(run.workers, samples // run.workers, channels, height, width)
        if run.training:
            mean = grouped.mean(dim=(1, 3, 4), keepdim=True)
            variance = ((grouped - mean) ** 2).mean(dim=(1, 3, 4), keepdim=True)
            count = grouped.shape[1] * height * width
            unbiased = variance.view(run.workers, channels) * (count / max(1, count - 1))
            run.seen.append((mean.detach().view(run.workers, channels), unbiased.detach()))
        else:
            running_mean, running_variance = run.running[run.place]
            run.place += 1
            mean, variance = (each.view(1, 1, channels, 1, 1) for each in (running_mean, running_variance))
        normal = (grouped - mean) * (variance + self.epsilon) ** -0.5
        scale, shift = (each.view(run.workers, 1, channels, 1, 1) for each in parameters)
        return (normal * scale + shift).view(x.shape)
