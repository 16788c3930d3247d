"""The adversary that owns the whole slack of a rule: R_t is any vector with ||R_t - mean||^2 <= kappa times variance.

This is all that the convergence proofs assume of a rule, so it is the worst case of the theorems. It plays the run that
refutes Theorem 1 as stated (see ``kappaguard.verify.claims.dgd_convergence``): in the first step the error points
against the honest mean, afterwards along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.quadratic import Quadratic
from kappaguard.training.theorems.constants import Constants

if TYPE_CHECKING:
    from torch import Tensor

SHORT = 1e-3
"""The start is so much nearer than 3 sqrt(kappa) G that the first aggregate is the smallest, strictly."""


@dataclass
class Slack:
    """In place of a rule: the honest mean, moved as far as kappa allows, against itself first and then along itself.

    Without ``turns`` it is moved against itself in every step.
    """

    kappa: float
    honest: int
    calls: int = 0
    turns: bool = True

    def __call__(self, messages: Tensor) -> Tensor:
        """The aggregate of the next step."""
        mine = messages[: self.honest]
        mean = mine.mean(dim=0)
        variance = ((mine - mean) ** 2).sum() / self.honest
        sign = 1.0 if self.calls and self.turns else -1.0
        self.calls += 1
        moved: Tensor = mean + sign * (self.kappa * variance).sqrt() * mean / mean.norm()
        return moved


@dataclass(frozen=True)
class Outcome:
    """Both sides of Theorem 1 for one run: as stated, and with 9 kappa G^2."""

    steps: int
    left: float
    stated: float
    corrected: float


def swing(steps: int, kappa: float = 1.0, dimension: int = 5, workers: int = 4) -> Outcome:
    """A run of Algorithm 1 with gamma = 1/L on L_i = 1/2 ||theta||^2 - b_i^T theta with G = 1, from 3 sqrt(kappa)."""
    import torch

    like = torch.empty(0, dtype=torch.float64)
    problem = Quadratic(workers, dimension, 1.0, 1.0, 1.0, 0.0, (3 - SHORT) * kappa**0.5, 0, like)
    settings = Settings(workers, 0, steps, lambda t: 1.0, 0.0, True, None, 0, "none", 1)
    training = Training(problem, Slack(kappa, workers), None, settings)
    gap = problem.evaluate(training.state.theta).loss
    for _ in range(steps):
        training.step()
    assert training.state.output is not None
    out = torch.empty((workers, dimension), dtype=torch.float64)
    problem.exact(training.state.output, out)
    constants = Constants(1.0, gap, 1.0, 0.0, kappa, workers, 0, steps)
    left = float((out.mean(dim=0) ** 2).sum())
    return Outcome(steps, left, constants.theorem_1(4.0), constants.theorem_1(9.0))
