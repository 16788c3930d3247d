"""Quadratics with known constants: L_i(theta) = 1/2 theta^T A theta - b_i^T theta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kappaguard.search.attacks.base import Total
from kappaguard.training.problem import Evaluation, Finish, Known, Problem

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(eq=False)
class Quadratic(Problem):
    """One A for all workers, so that heterogeneity has a bound: G^2 = (1/m) sum_i ||b_i - mean b||^2, everywhere.

    A is diagonal with entries spread evenly on a logarithmic scale from smoothness/condition to smoothness. The b_i are
    random, scaled to the given G, with mean zero: the minimum of L_H is 0 at theta = 0. The start has the same loss in
    every direction of A. Noise: a sample z adds sigma times a random signed unit vector to the gradient, so that
    sigma^2 is the variance exactly.
    """

    honest: int
    dimension: int
    smoothness: float
    condition: float
    heterogeneity: float
    sigma: float
    distance: float
    seed: int
    like: Tensor
    flippers: int = 0

    def __post_init__(self) -> None:
        self._hosted = slice(0, self.honest)

    def host(self, workers: range, total: Total) -> None:
        """Only these; nothing is summed over the processes, as every process knows all that is random."""
        self._hosted = slice(workers.start, workers.stop)

    def _constants(self) -> tuple[Tensor, Tensor]:
        import torch

        generator = np.random.default_rng((self.seed, 7))
        curvature = np.geomspace(self.smoothness / self.condition, self.smoothness, self.dimension)
        shifts = generator.standard_normal((self.honest, self.dimension))
        shifts -= shifts.mean(axis=0)
        length = float(np.sqrt(np.sum(shifts**2) / self.honest))
        shifts *= self.heterogeneity / length if length > 0 else 0.0
        return tuple(
            torch.as_tensor(each, dtype=self.like.dtype, device=self.like.device) for each in (curvature, shifts)
        )  # type: ignore[return-value]

    def start(self) -> Tensor:
        """At the given distance from the minimum, with random signs."""
        import torch

        signs = np.random.default_rng((self.seed, 8)).choice([-1.0, 1.0], size=self.dimension)
        curvature, _ = self._constants()
        point = torch.as_tensor(signs, dtype=self.like.dtype, device=self.like.device) / curvature.sqrt()
        start: Tensor = point * (self.distance / point.norm())
        return start

    def stochastic(self, theta: Tensor, step: int, out: Tensor, finish: Finish) -> Tensor:
        """The gradients plus noise."""
        import torch

        losses = self.exact(theta, out)
        generator = np.random.default_rng((self.seed, 9, step))
        place = generator.integers(self.dimension, size=self.honest)[self._hosted]
        sign = generator.choice([-1.0, 1.0], size=self.honest)[self._hosted] * self.sigma
        rows = torch.arange(len(place), device=out.device)
        columns = torch.as_tensor(place, device=out.device)
        out[rows, columns] += torch.as_tensor(sign, dtype=out.dtype, device=out.device)
        finish(0, len(place), 0.0)
        return losses

    def exact(self, theta: Tensor, out: Tensor, learn: bool = False) -> Tensor:
        """The workers' gradients A theta - b_i."""
        curvature, every = self._constants()
        shifts = every[self._hosted]
        out.copy_((curvature * theta)[None] - shifts)
        return (curvature * theta * theta).sum() / 2 - shifts @ theta

    def noise(self, theta: Tensor) -> float:
        """The noise sigma^2, which is the same everywhere."""
        return self.sigma**2

    def evaluate(self, theta: Tensor, samples: int = 0) -> Evaluation:
        """L_H, which is 1/2 theta^T A theta."""
        curvature, _ = self._constants()
        return Evaluation(float((curvature * theta * theta).sum() / 2))

    def known(self) -> Known:
        """The largest entry of A, and zero."""
        return Known(self.smoothness, 0.0)
