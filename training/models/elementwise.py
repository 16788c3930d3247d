"""R, M and D: rectifier, pooling and dropout, which have no parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Rectifier(Layer):
    """The positive part of every entry, max(x, 0)."""

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of the input."""
        return shape

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """The positive part of every entry."""
        return x.relu()


@dataclass(frozen=True)
class Pool(Layer):
    """The largest of every 2 x 2 square; of equal ones the first, row by row. Height and width must be even."""

    def output_shape(self, shape: Shape) -> Shape:
        """Half of height and width."""
        channels, height, width = shape
        return (channels, height // 2, width // 2)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """The largest of every square."""
        from torch.nn.functional import max_pool2d

        return max_pool2d(x, 2)


@dataclass(frozen=True)
class Dropout(Layer):
    """While training, every entry is dropped with the given probability and the others are scaled up accordingly."""

    probability: float = 0.25

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of the input."""
        return shape

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """What stays, over 1 - probability; everything as it is in evaluation."""
        if not run.training:
            return x
        return x * ((run.uniform(tuple(x.shape)) >= self.probability).to(x.dtype) / (1 - self.probability))
