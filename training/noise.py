"""sigma^2 of learning from data: how much the gradients of a worker's single samples vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kappaguard.training.models.layer import Pass
from kappaguard.training.sampling import uniform_numbers

if TYPE_CHECKING:
    from torch import Tensor

    from kappaguard.training.learning import Learning

SAMPLED = 1000
"""Up to this many samples per worker, sigma^2 is exact."""
MOST_ENTRIES = 1 << 24


def noise_of(problem: Learning, worker: int, theta: Tensor) -> float:
    """(1/|D_i|) sum over D_i of ||grad l(theta, z) - grad L_i(theta)||^2.

    Over all of the worker's samples, or over ``SAMPLED`` of them, evenly spread.
    """
    import torch

    own = problem.samples_of(worker)
    own = own[:: -(-len(own) // SAMPLED)]
    total = torch.zeros(problem.dimension, dtype=theta.dtype, device=theta.device)
    squares = 0.0
    few = max(1, MOST_ENTRIES // problem.dimension)
    for start in range(0, len(own), few):
        part = own[start : start + few][:, None]
        images, labels = problem.batch_of(part, np.zeros(part.shape, dtype=bool), len(part))
        out = torch.empty((len(part), problem.dimension), dtype=theta.dtype, device=theta.device)
        run = Pass(len(part), uniform=uniform_numbers((problem.seed, 2, 0), range(1), problem.images))
        problem.network.gradients(theta, images, labels, out, run)
        total += out.sum(dim=0)
        squares += float((out * out).sum())
    mean = total / len(own)
    return squares / len(own) - float(mean @ mean)
