"""What a layer is: a forward pass over the samples of all workers, through which torch differentiates.

All honest workers compute their gradients at the same parameters. So one forward pass and one pass of gradients with
respect to activations serve the samples of all of them; only the gradients with respect to parameters are formed per
worker. To that end parameters come as (workers, ...), each row standing for those of one worker, and all rows being one
place in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

Shape = tuple[int, ...]


def no_numbers(shape: Shape) -> Tensor:
    """What draws for a pass that was not handed anything to draw from: it is an error to ask."""
    raise RuntimeError(f"a pass without random numbers was asked for some of shape {shape}")


@dataclass
class Pass:
    """What the layers need to know of a pass: samples come worker by worker, the same number from each.

    ``uniform`` draws random numbers in [0, 1) for a given shape, worker by worker. ``running`` holds a mean and a
    variance per normalised channel for evaluation; while training, layers append theirs to ``seen``.
    """

    workers: int
    training: bool = True
    uniform: Callable[[Shape], Tensor] = no_numbers
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
    def forward(self, x: Tensor, parameters: list[Tensor], run: Pass) -> Tensor:
        """The output for all samples; of each parameter there is a row per worker."""


def uniform_start(shapes: list[Shape], fan_in: int, uniform: Callable[[Shape], Tensor]) -> list[Tensor]:
    """Uniform in +-1/sqrt(fan in), as torch's own layers start."""
    bound = fan_in**-0.5
    return [(2 * uniform(shape) - 1) * bound for shape in shapes]
