"""What is drawn in a step, from the seed and the step alone: a run can be continued from any step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kappaguard.training.models.layer import Shape

if TYPE_CHECKING:
    from torch import Tensor


def drawn(
    order: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64], batch: int, seed: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which samples every worker takes, with replacement, and which of them are flipped, (workers, batch).

    Worker i owns ``order[starts[i] : starts[i] + sizes[i]]``.
    """
    generator = np.random.default_rng(seed)
    places = (generator.random((len(sizes), batch)) * sizes[:, None]).astype(np.int64)
    return order[starts[:, None] + places], generator.random(places.shape) < 0.5


def uniform_numbers(seed: tuple[int, ...], workers: range, like: Tensor) -> Callable[[Shape], Tensor]:
    """Random numbers for dropout: each worker's are its own, whatever ranges the workers are cut into."""
    import torch

    generators: list[torch.Generator] = []

    def draw(shape: Shape) -> Tensor:
        if not generators:
            states = (np.random.SeedSequence((*seed, worker)).generate_state(1) for worker in workers)
            generators.extend(torch.Generator().manual_seed(int(state[0])) for state in states)
        own = (shape[0] // len(generators), *shape[1:])
        numbers = [torch.rand(own, generator=generator, dtype=torch.float32) for generator in generators]
        return torch.cat(numbers).to(like)

    return draw
