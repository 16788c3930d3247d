"""The largest spread of momentums, and D-SHB against an adversary."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kappaguard.verify.theory.performance.heavy_ball import median_run
from kappaguard.verify.theory.performance.momentum import aligned_run, largest_spread, limiting_spread


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("honest", [2, 3, 7])
@pytest.mark.parametrize("steps", [1, 2, 25])
def test_a_run_attains_the_recursion(beta, honest, steps):
    run = aligned_run(beta, steps, honest, 2.0, 5.0)
    assert run == pytest.approx(largest_spread(beta, steps, 2.0, 5.0 * (1 - 1 / honest)), rel=1e-12)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.99])
def test_the_recursion_increases_to_its_limit(beta):
    values = [largest_spread(beta, steps, 1.0, 4.0) for steps in (1, 2, 5, 20, 5000)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(limiting_spread(beta, 1.0, 4.0), rel=1e-9)


def test_known_limits():
    assert limiting_spread(0.0, 1.0, 4.0) == pytest.approx(5.0)
    assert limiting_spread(0.9, 0.0, 4.0) == pytest.approx(0.1 / 1.9 * 4.0)
    assert limiting_spread(0.9, 3.0, 0.0) == pytest.approx(3.0)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_deviation_drifts_more(seed):
    """Workers in the plane with deviations that follow the spread, turn at random, or stay: below both bounds."""
    random = np.random.default_rng(seed)
    honest, beta, runs = 4, 0.8, 4000
    momentums = np.zeros((runs, honest, 2))
    fixed = random.normal(size=(1, honest, 2))
    for step in range(30):
        apart = momentums - momentums.mean(axis=1, keepdims=True)
        wish = (apart, random.normal(size=apart.shape), np.broadcast_to(fixed, apart.shape))[(seed + step // 10) % 3]
        wish = wish - wish.mean(axis=1, keepdims=True)
        size = np.sqrt(np.mean(np.sum(wish**2, axis=2), axis=1))[:, None, None]
        gradients = np.divide(wish, size, out=np.zeros_like(wish), where=size > 0)
        gradients = gradients + random.choice([-1.0, 1.0], size=apart.shape)
        momentums = beta * momentums + (1 - beta) * gradients
    drift = np.mean(np.sum((momentums - momentums.mean(axis=1, keepdims=True)) ** 2, axis=2))
    sigma2 = 2.0
    assert drift <= largest_spread(beta, 30, 1.0, sigma2 * (1 - 1 / honest)) * 1.02
    assert drift <= ((1 - beta) * (1 - 1 / honest) * sigma2 + 1.0) * 1.02


@pytest.mark.parametrize(("deviation", "variance"), [(0.0, 1.0), (1.0, 0.0), (1.0, 4.0)])
def test_runs_stay_below_both_bounds(deviation, variance):
    measured, constants = median_run(200, 2.0, deviation, variance, runs=300, seed=1)
    assert 0 < measured <= constants.bound(6 / 5, 17 / 36) <= constants.theorem_2()


def test_a_run_without_noise_by_hand():
    theta, total = 2.0, 0.0
    for _ in range(50):
        total += theta**2 / 50
        low, high = theta - 1, theta + 1
        theta = max(theta - low / 24, theta - high / 24, key=abs)
    measured, _ = median_run(50, 2.0, 1.0, 0.0, runs=1, seed=0)
    assert measured == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("step", [1e-5, 0.001, 0.01, 0.03, 1 / 24])
def test_one_step_of_the_improved_theorem(step):
    """2 (loss after - before)/gamma + z/h (|delta after|^2 - |delta|^2) + |g|^2 <= 6/5 |xi|^2, smoothness L = 1.

    The loss after the step is the largest that smoothness allows; without noise.
    """
    random = np.random.default_rng(5)
    beta = math.sqrt(max(0.0, 1 - 24 * step))
    weight = (1 + beta) ** 2 / 4
    closest = -math.inf
    for _ in range(4000):
        gradient, delta, error, change = random.standard_normal((4, 3)) * random.choice([0.1, 1.0, 10.0], size=(4, 1))
        if random.random() < 0.5:  # near the worst case
            change, error = -delta + 0.1 * change, 5 * delta + 0.1 * error
        taken = gradient + delta + error
        change *= min(1.0, step * np.linalg.norm(taken) / np.linalg.norm(change))
        loss = -step * gradient @ taken + step**2 / 2 * taken @ taken
        after = beta * (delta - change)
        left = 2 * loss / step + weight / step * (after @ after - delta @ delta) + gradient @ gradient
        closest = max(closest, left / (error @ error))
    assert 0.5 < closest <= 6 / 5
