"""The rates: error against T on a log-log scale, and the floor against kappa G^2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.theorems.summary import RateSummary, summary

CONFIDENCE = 0.95

Finish = Callable[[Configuration], RateSummary]
"""What came out of a run: by carrying it out, or from where it is kept."""


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


def gd_runs(horizons: list[int], rule: str, attack: str) -> list[Configuration]:
    """Algorithm 1 without heterogeneity, curvatures spread over four decades."""
    base = preset("theorem1").with_values(
        {"rule": rule, "attack": attack, "heterogeneity": 0.0, "condition": 1e4, "dimension": 60, "measure": "none"}
    )
    return [base.with_values({"steps": steps}) for steps in horizons]


def shb_runs(horizons: list[int], rule: str, attack: str, seeds: int) -> list[Configuration]:
    """Algorithm 2 without heterogeneity, with noise and the theorem's step sizes; horizon after horizon."""
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
    return [base.with_values({"steps": steps, "seed": seed}) for steps in horizons for seed in range(1, seeds + 1)]


def share_runs(steps: int, rule: str, attack: str, cases: list[tuple[int, int, float]]) -> list[Configuration]:
    """Algorithm 1 on quadratics, for every (n, f, G)."""
    base = preset("theorem1").with_values({"rule": rule, "attack": attack, "steps": steps})
    return [base.with_values({"n": n, "f": f, "heterogeneity": spread}) for n, f, spread in cases]


def alpha_runs(steps: int, rule: str, attack: str, alphas: list[float]) -> list[Configuration]:
    """Algorithm 1 on logistic regression from digits, for every Dirichlet parameter."""
    learning = {"model": "logistic", "dataset": "digits", "l2": 0.1}
    base = preset("theorem1").with_values({"rule": rule, "attack": attack, "steps": steps, **learning})
    return [base.with_values({"alpha": alpha}) for alpha in alphas]


def gd_rate(horizons: list[int], rule: str, attack: str, finish: Finish = summary) -> tuple[Slope, list[float]]:
    """The slope of Algorithm 1 without heterogeneity: the theorem says 1/T."""
    errors = [finish(each).left for each in gd_runs(horizons, rule, attack)]
    return fit([float(steps) for steps in horizons], errors), errors


def shb_rate(
    horizons: list[int], rule: str, attack: str, seeds: int, finish: Finish = summary
) -> tuple[Slope, list[float]]:
    """That of Algorithm 2 without heterogeneity: 1/sqrt(T). Of every horizon, the mean error over the seeds."""
    runs = shb_runs(horizons, rule, attack, seeds)
    errors = [finish(each).left for each in runs]
    means = [math.fsum(errors[start : start + seeds]) / seeds for start in range(0, len(errors), seeds)]
    return fit([float(each.steps) for each in runs], errors), means


@dataclass(frozen=True)
class Floor:
    """What is left of ||grad L_H||^2 after many steps, beside the largest ratio and G^2 of the run."""

    configuration: Configuration
    left: float
    ratio: float
    heterogeneity_squared: float


def floors(runs: list[Configuration], finish: Finish = summary) -> list[Floor]:
    """Where runs of Algorithm 1 end, at their outputs."""
    return [Floor(each, found.left, found.ratio, found.drift) for each in runs for found in [finish(each)]]
