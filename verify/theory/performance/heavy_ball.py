"""Robust D-SHB with the step size of Theorem 2, run against an adversary.

It has n = 3, f = 1, losses theta^2/2 +- G theta of the two honest workers (L = 1), noise +-sigma, and the median,
which is (1, kappa)-robust with kappa = 1 here: with honest messages a <= b the Byzantine worker can set it to any value
between them, and sets it to the one that moves theta farthest from the minimum 0.
"""

from __future__ import annotations

import math

import numpy as np

from kappaguard.training.theorems.constants import Constants


def median_run(
    steps: int, start: float, deviation: float, variance: float, runs: int, seed: int
) -> tuple[float, Constants]:
    """The mean over runs and steps of the squared gradient, and the constants of the run."""
    constants = Constants(1.0, start**2 / 2, deviation, variance, 1.0, 3, 1, steps)
    gamma, beta = constants.rate(), constants.momentum()
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
    return total / steps, constants
