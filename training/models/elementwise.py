"""R, M and D: rectifier, pooling and dropout, which have no parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.models.layer import Layer, Pass, Shape

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Rectifier(Layer):
    """max(x, 0)."""

    def output_shape(self, shape: Shape) -> Shape:
        """The same."""
        return shape

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, Tensor]:
        """The positive part."""
        positive = x.clamp(min=0)
        return positive, positive

    def backward(
        self, gradient: Tensor, saved: Tensor, parameters: list[Tensor], out: list[Tensor], run: Pass, first: bool
    ) -> Tensor | None:
        """Where the output is positive."""
        import torch

        passed: Tensor = torch.ops.aten.threshold_backward(gradient, saved, 0)
        return passed


@dataclass(frozen=True)
class Pool(Layer):
    """The largest of every 2 x 2 square; of equal ones the first, row by row. Height and width must be even."""

    def output_shape(self, shape: Shape) -> Shape:
        """Half of height and width."""
        channels, height, width = shape
        return (channels, height // 2, width // 2)

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Of each pair in a row, then of each pair of rows: ten times as quick on a CPU as torch's own."""
        import torch

        samples, channels, height, width = x.shape
        pairs = x.view(samples, channels, height, width // 2, 2)
        left, right = pairs[..., 0], pairs[..., 1]
        in_row = torch.maximum(left, right).view(samples, channels, height // 2, 2, width // 2)
        upper, lower = in_row[..., 0, :], in_row[..., 1, :]
        return torch.maximum(upper, lower), (left >= right, upper >= lower)

    def backward(
        self,
        gradient: Tensor,
        saved: tuple[Tensor, Tensor],
        parameters: list[Tensor],
        out: list[Tensor],
        run: Pass,
        first: bool,
    ) -> Tensor | None:
        """To the place that won."""
        import torch

        is_left, is_upper = saved
        samples, channels, height, width = gradient.shape
        rows = torch.empty((samples, channels, height, 2, width), dtype=gradient.dtype, device=gradient.device)
        torch.mul(gradient, is_upper, out=rows[..., 0, :])
        torch.sub(gradient, rows[..., 0, :], out=rows[..., 1, :])
        tall = rows.view(samples, channels, 2 * height, width)
        result = torch.empty((*tall.shape, 2), dtype=gradient.dtype, device=gradient.device)
        torch.mul(tall, is_left, out=result[..., 0])
        torch.sub(tall, result[..., 0], out=result[..., 1])
        return result.view(samples, channels, 2 * height, 2 * width)


@dataclass(frozen=True)
class Dropout(Layer):
    """While training, every entry is dropped with the given probability and the others are scaled up accordingly."""

    probability: float = 0.25

    def output_shape(self, shape: Shape) -> Shape:
        """The same."""
        return shape

    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, Tensor | None]:
        """Kept entries over 1 - probability; all of them as they are in evaluation."""
        if not run.training:
            return x, None
        assert run.uniform is not None
        kept = (run.uniform(tuple(x.shape)) >= self.probability).to(x.dtype) / (1 - self.probability)
        return x * kept, kept

    def backward(
        self,
        gradient: Tensor,
        saved: Tensor | None,
        parameters: list[Tensor],
        out: list[Tensor],
        run: Pass,
        first: bool,
    ) -> Tensor | None:
        """Through the kept entries."""
        return gradient if saved is None else gradient * saved
