"""Robust D-SHB: the constants of Theorem 2, its step size and bound, and a run against an adversary.

The run has n = 3, f = 1, losses theta^2/2 +- G theta of the two honest workers (L = 1), noise +-sigma, and the median,
which is (1, kappa)-robust with kappa = 1 here: with honest messages a <= b the Byzantine worker can set it to any value
between them, and sets it to the one that moves theta farthest from the minimum 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Setting:
    """What Theorem 2 speaks of; ``gap`` is L_H(theta_0) - L*, ``variance`` is sigma^2, ``deviation`` is G^2."""

    n: int
    f: int
    steps: int
    kappa: float
    smoothness: float
    gap: float
    deviation: float
    variance: float

    @property
    def a2(self) -> float:
        """6 sqrt(L_H(theta_0) - L*)."""
        return 6 * math.sqrt(self.gap)

    @property
    def a_kappa(self) -> float:
        """sqrt(1728 L kappa + 288 L / (n - f))."""
        return math.sqrt(self.smoothness * (1728 * self.kappa + 288 / (self.n - self.f)))

    @property
    def step_size(self) -> float:
        """gamma; without noise the second term of the minimum is read as infinite."""
        largest = 1 / (24 * self.smoothness)
        if self.variance == 0:
            return largest
        return min(largest, self.a2 / (2 * self.a_kappa * math.sqrt(self.variance * self.steps)))

    @property
    def momentum(self) -> float:
        """beta."""
        return math.sqrt(max(0.0, 1 - 24 * self.step_size * self.smoothness))

    @property
    def vanishing(self) -> float:
        """The terms of the bound that vanish as T grows."""
        sigma, a4, a5 = math.sqrt(self.variance), 288 * self.smoothness, 216 * self.smoothness * self.gap
        last: float = self.a2 * a4 * sigma / (self.n * self.a_kappa * float(self.steps) ** 1.5)
        return self.a2 * self.a_kappa * sigma / math.sqrt(self.steps) + a5 / self.steps + last

    def bound(self, floor: float, rest: float) -> float:
        """floor kappa G^2 + rest times the vanishing terms: 36 and 1 in Theorem 2, 6/5 and 17/36 in ours."""
        return floor * self.kappa * self.deviation + rest * self.vanishing


def median_run(
    steps: int, start: float, deviation: float, variance: float, runs: int, seed: int
) -> tuple[float, Setting]:
    """The mean over runs and steps of the squared gradient, and the setting of the run."""
    setting = Setting(3, 1, steps, 1.0, 1.0, start**2 / 2, deviation, variance)
    gamma, beta = setting.step_size, setting.momentum
    random = np.random.default_rng(seed)
    theta = np.full(runs, start)
    momentums = np.zeros((2, runs))
    slopes = math.sqrt(deviation) * np.array([[1.0], [-1.0]])
    total = 0.0
    for _ in range(steps):
        total += float(np.mean(theta**2))
        noise = math.sqrt(variance) * random.choice([-1.0, 1.0], size=(2, runs))
        momentums = beta * momentums + (1 - beta) * (theta + slopes + noise)
        low, high = momentums.min(axis=0), momentums.max(axis=0)
        theta = np.where(
            np.abs(theta - gamma * low) > np.abs(theta - gamma * high), theta - gamma * low, theta - gamma * high
        )
    return total / steps, setting
