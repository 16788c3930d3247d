"""What the rates and floors need of a run: the left-hand side of its theorem, and the largest ratio and G^2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.problem import Problem

if TYPE_CHECKING:
    from torch import Tensor

    from kappaguard.training.data.dataset import Dataset

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class RateSummary:
    """``left`` is ||grad L_H(output)||^2 of Algorithm 1, and its mean over all possible outputs of Algorithm 2.

    ``drift`` is the largest variance of the honest messages: G^2, if they are exact gradients.
    """

    left: float
    ratio: float
    drift: float

    def to_json(self) -> dict[str, Any]:
        """The summary as the ledger stores it."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RateSummary:
        """Strict JSON has null for what is infinite."""
        return cls(**{key: math.inf if value is None else float(value) for key, value in values.items()})


def summary(
    configuration: Configuration, report: Report = lambda done, total: None, data: Dataset | None = None
) -> RateSummary:
    """Train, and sum up what came out."""
    training = build(configuration.with_values({"measure": "light", "measure_every": 1}), data)
    gradients, ratios, drifts = [], [], []
    for done in range(1, configuration.steps + 1):
        gradients.append(_gradient_squared(training.problem, training.state.theta))
        row = training.step()
        ratios.append(row["ratio"])
        drifts.append(row["drift"])
        report(done, configuration.steps)
    if configuration.algorithm == "gd":
        assert training.state.output_step is not None
        left = gradients[training.state.output_step]
    else:
        left = math.fsum(gradients) / len(gradients)
    return RateSummary(left, max(ratios), max(drifts))


def _gradient_squared(problem: Problem, theta: Tensor) -> float:
    import torch

    out = torch.empty((problem.workers, problem.dimension), dtype=theta.dtype, device=theta.device)
    problem.exact(theta, out)
    return float((out[: problem.honest].mean(dim=0) ** 2).sum())
