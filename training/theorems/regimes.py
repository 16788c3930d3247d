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

from kappaguard.training.configuration import Configuration, preset
from kappaguard.training.theorems.constants import Constants, kappa_of
from kappaguard.training.theorems.summary import RateSummary

HEADINGS = ["regime", "T", "left", "bound", "left/bound", "by hand"]
BY_HAND = {"decay": 1 / 9, "noise": 1 / 18, "floor": 1 / 36}


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
        """A regime as a row of the table."""
        sides = [f"{self.left:.4g}", f"{self.bound:.4g}", f"{self.ratio:.4f}"]
        return [self.name, str(self.steps), *sides, f"1/{round(1 / self.by_hand)} = {self.by_hand:.4f}"]


def without_heterogeneity(steps: int, sigma: float, rule: str = "cwtm", attack: str = "sf") -> Configuration:
    """Decay, or noise if sigma > 0, with the theorem's gamma and beta for the claimed kappa."""
    problem = {"heterogeneity": 0.0, "condition": 1.0, "sigma": sigma, "measure": "none"}
    return preset("theorem2").with_values({"rule": rule, "attack": attack, "steps": steps, **problem})


def floor(steps: int, kappa: float = 1.0) -> Configuration:
    """The adversary that owns the slack, from a start where it holds the run at once."""
    problem = {"n": 4, "f": 0, "dimension": 5, "condition": 1.0, "sigma": 0.0, "distance": kappa**0.5}
    adversary = {"rule": "slack-against", "attack": "none", "kappa": kappa, "measure": "none"}
    return preset("theorem2").with_values({"steps": steps, **problem, **adversary})


def regime_runs(steps: int) -> dict[str, Configuration]:
    """The runs of all three regimes."""
    return {
        "decay": without_heterogeneity(steps, 0.0),
        "noise": without_heterogeneity(steps, 0.3),
        "floor": floor(steps),
    }


def regime(name: str, given: Configuration, found: RateSummary) -> Regime:
    """Both sides, from what came out of the run; the start is at loss distance^2/2, as L = 1 and the condition is 1."""
    gap, spread, noise = given.distance**2 / 2, given.heterogeneity**2, given.sigma**2
    constants = Constants(1.0, gap, spread, noise, kappa_of(given), given.n, given.f, given.steps)
    return Regime(name, given.steps, found.left, constants.theorem_2(), BY_HAND[name])
