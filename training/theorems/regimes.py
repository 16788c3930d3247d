"""How loose Theorem 2 is at the least: the three terms of its bound, each in a run where it is all that matters.

The bound is 36 kappa G^2 + a_2 a_kappa sigma/sqrt(T) + 216 L Delta/T + smaller. On L_H = L/2 ||theta||^2 the mean of
||grad L_H||^2 over T steps follows by hand, for gamma L T large:

- decay (G = sigma = 0, so gamma = 1/(24 L) and beta = 0): theta shrinks by 1 - gamma L per step, and the mean is
  Delta/(gamma T) = 24 L Delta/T: one ninth of 216 L Delta/T.
- noise (G = 0, gamma = a_2/(2 a_kappa sigma sqrt(T)) with a_2 = 6 sqrt(Delta)): Delta/(gamma T) is
  a_kappa sigma sqrt(Delta)/(3 sqrt(T)), one eighteenth of a_2 a_kappa sigma/sqrt(T) = 6 a_kappa sigma sqrt(Delta/T),
  plus what the noise itself adds.
- floor (sigma = 0, an adversary that owns the slack and always points against the honest mean): the run settles where
  ||grad L_H||^2 = kappa G^2, one thirty-sixth of 36 kappa G^2.

So no attack can bring the left-hand side near the bound on these problems.
"""

from __future__ import annotations

from dataclasses import dataclass

from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.build import build
from kappaguard.training.configuration import preset
from kappaguard.training.quadratic import Quadratic
from kappaguard.training.theorems.constants import Constants, claimed_kappa
from kappaguard.training.theorems.slack import Slack

HEADINGS = ["regime", "T", "left", "bound", "left/bound", "by hand"]


@dataclass(frozen=True)
class Regime:
    """Both sides of Theorem 2 for one run, and the quotient that follows by hand for T to infinity."""

    name: str
    steps: int
    left: float
    bound: float
    by_hand: float

    @property
    def ratio(self) -> float:
        """The left-hand side over the bound."""
        return self.left / self.bound

    def line(self) -> list[str]:
        """For people."""
        sides = [f"{self.left:.4g}", f"{self.bound:.4g}", f"{self.ratio:.4f}"]
        return [self.name, str(self.steps), *sides, f"1/{round(1 / self.by_hand)} = {self.by_hand:.4f}"]


def _mean_square(training: Training, steps: int) -> float:
    """The mean of ||grad L_H||^2 over the iterates from which the output is drawn; L_H is 1/2 ||theta||^2."""
    total = 0.0
    for _ in range(steps):
        total += float((training.state.theta**2).sum())
        training.step()
    return total / steps


def without_heterogeneity(steps: int, sigma: float, rule: str = "cwtm", attack: str = "sf") -> Regime:
    """Decay, or noise if sigma > 0, with the theorem's gamma and beta for the claimed kappa."""
    given = preset("theorem2").with_values(
        {"rule": rule, "attack": attack, "steps": steps, "sigma": sigma, "heterogeneity": 0.0, "condition": 1.0}
    )
    given = given.with_values({"measure": "none"})
    gap = given.distance**2 / 2
    kappa = claimed_kappa(rule, given.n, given.f)
    constants = Constants(1.0, gap, 0.0, sigma**2, kappa, given.n, given.f, steps)
    left = _mean_square(build(given), steps)
    return Regime("noise" if sigma else "decay", steps, left, constants.theorem_2(), 1 / 18 if sigma else 1 / 9)


def floor(steps: int, kappa: float = 1.0, workers: int = 4, dimension: int = 5) -> Regime:
    """The adversary that owns the slack, from a start where it holds the run at once."""
    import torch

    problem = Quadratic(workers, dimension, 1.0, 1.0, 1.0, 0.0, kappa**0.5, 0, torch.empty(0, dtype=torch.float64))
    constants = Constants(1.0, kappa / 2, 1.0, 0.0, kappa, workers, 0, steps)
    rate = constants.rate()
    settings = Settings(workers, 0, steps, lambda t: rate, constants.momentum(), False, None, 0, "none", 1)
    training = Training(problem, Slack(kappa, workers, turns=False), None, settings)
    return Regime("floor", steps, _mean_square(training, steps), constants.theorem_2(), 1 / 36)


def regimes(steps: int) -> list[Regime]:
    """All three."""
    return [without_heterogeneity(steps, 0.0), without_heterogeneity(steps, 0.3), floor(steps)]
