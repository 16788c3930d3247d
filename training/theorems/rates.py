"""The rates: error against T on a log-log scale, and the floor against kappa G^2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration, preset

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Slope:
    """A least-squares slope with its confidence interval (95 %, Student's t)."""

    value: float
    low: float
    high: float


def fit(x: list[float], y: list[float]) -> Slope:
    """The slope of log y against log x."""
    from scipy import stats

    found = stats.linregress(np.log(x), np.log(y))
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(x) - 2)) * float(found.stderr)
    slope = float(found.slope)
    return Slope(slope, slope - reach, slope + reach)


def left_side(configuration: Configuration) -> float:
    """||grad L_H(output)||^2 of Algorithm 1; its mean over all possible outputs for Algorithm 2."""
    training = build(configuration)
    gradients = []
    for _ in range(configuration.steps):
        gradients.append(_gradient_squared(training.problem, training.state.theta))
        training.step()
    if configuration.algorithm == "gd":
        assert training.state.output_step is not None
        return gradients[training.state.output_step]
    return math.fsum(gradients) / len(gradients)


def _gradient_squared(problem: object, theta: object) -> float:
    import torch

    from kappaguard.training.problem import Problem

    assert isinstance(problem, Problem)
    assert isinstance(theta, torch.Tensor)
    out = torch.empty((problem.workers, problem.dimension), dtype=theta.dtype, device=theta.device)
    problem.exact(theta, out)
    return float((out[: problem.honest].mean(dim=0) ** 2).sum())


def gd_rate(horizons: list[int], rule: str, attack: str) -> tuple[Slope, list[float]]:
    """Algorithm 1 without heterogeneity, curvatures spread over four decades: the theorem says 1/T."""
    base = preset("theorem1").with_values(
        {"rule": rule, "attack": attack, "heterogeneity": 0.0, "condition": 1e4, "dimension": 60, "measure": "none"}
    )
    errors = [left_side(base.with_values({"steps": steps})) for steps in horizons]
    return fit([float(steps) for steps in horizons], errors), errors


def shb_rate(horizons: list[int], rule: str, attack: str, seeds: int) -> tuple[Slope, list[float]]:
    """Algorithm 2 without heterogeneity, with noise and the theorem's step sizes: 1/sqrt(T)."""
    base = preset("theorem2").with_values(
        {
            "rule": rule,
            "attack": attack,
            "heterogeneity": 0.0,
            "measure": "none",
            "sigma": 0.3,
            "distance": 3.0,
            "condition": 1.0,
        }
    )
    x, y, means = [], [], []
    for steps in horizons:
        errors = [left_side(base.with_values({"steps": steps, "seed": seed})) for seed in range(1, seeds + 1)]
        x += [float(steps)] * seeds
        y += errors
        means.append(math.fsum(errors) / seeds)
    return fit(x, y), means


@dataclass(frozen=True)
class Floor:
    """What is left of ||grad L_H||^2 after many steps, beside the largest kappa-hat_t and G^2 of the run."""

    configuration: Configuration
    left: float
    kappa_hat: float
    heterogeneity_squared: float


def floor(configuration: Configuration) -> Floor:
    """Where a run of Algorithm 1 ends, at its output."""
    training = build(configuration.with_values({"measure": "light", "measure_every": 1}))
    ratios, spreads, gradients = [], [], []
    for _ in range(configuration.steps):
        gradients.append(_gradient_squared(training.problem, training.state.theta))
        row = training.step()
        ratios.append(row["kappa_hat"])
        spreads.append(row["drift"])
    assert training.state.output_step is not None
    return Floor(configuration, gradients[training.state.output_step], max(ratios), max(spreads))


def floors_by_share(steps: int, rule: str, attack: str, cases: list[tuple[int, int, float]]) -> list[Floor]:
    """On quadratics, for every (n, f, G)."""
    base = preset("theorem1").with_values({"rule": rule, "attack": attack, "steps": steps})
    return [floor(base.with_values({"n": n, "f": f, "heterogeneity": spread})) for n, f, spread in cases]


def floors_by_alpha(steps: int, rule: str, attack: str, alphas: list[float]) -> list[Floor]:
    """On logistic regression from digits, for every Dirichlet parameter."""
    learning = {"model": "logistic", "dataset": "digits", "l2": 0.1}
    base = preset("theorem1").with_values({"rule": rule, "attack": attack, "steps": steps, **learning})
    return [floor(base.with_values({"alpha": alpha})) for alpha in alphas]
