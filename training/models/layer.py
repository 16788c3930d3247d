"""What a layer is: a forward pass over the samples of all workers, and a backward pass that keeps workers apart.

All honest workers compute their gradients at the same parameters. So one forward pass and one pass of gradients with
respect to activations serve the samples of all of them; only the gradients with respect to parameters are formed per
worker. This is what a batch over workers (vmap) computes too, without giving every worker its own copy of the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Shape = tuple[int, ...]


@dataclass
class Pass:
    """What the layers need to know of a pass: samples come worker by worker, the same number from each.

    ``uniform`` draws random numbers in [0, 1) for a given shape, worker by worker. ``running`` holds a mean and a
    variance per normalised channel for evaluation; while training, layers append theirs to ``seen``.
    """

    workers: int
    training: bool = True
    uniform: Callable[[Shape], Tensor] | None = None
    running: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    seen: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    place: int = 0


class Layer(ABC):
    """One layer of a network, without parameters of its own: they are handed to every call."""

    @abstractmethod
    def output_shape(self, shape: Shape) -> Shape:
        """The shape of one sample's output."""

    def parameter_shapes(self, shape: Shape) -> list[Shape]:
        """The shapes of the parameters for inputs of that shape."""
        return []

    def initial(self, shape: Shape, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
        """Parameters to start from."""
        return []

    def channels(self, shape: Shape) -> int:
        """How many channels have running statistics."""
        return 0

    @abstractmethod
    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> tuple[Tensor, Any]:
        """The output for all samples, and what the backward pass needs."""

    @abstractmethod
    def backward(
        self, gradient: Tensor, saved: Any, parameters: list[Tensor], out: list[Tensor], run: Pass, first: bool
    ) -> Tensor | None:
        """Write the parameters' gradients, (workers, ...), to ``out``; return the input's, None if it is the first."""


def uniform_start(shapes: list[Shape], fan_in: int, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
    """Uniform in +-1/sqrt(fan in), as torch's own layers start."""
    bound = fan_in**-0.5
    return [(2 * uniform(shape) - 1) * bound for shape in shapes]
