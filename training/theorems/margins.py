"""Both sides of the theorems' bounds, from the log of a run in which everything was measured at every step.

The proofs use of kappa only that ||R_t - mean||^2 <= kappa times the variance of the honest messages in the steps of
the run, of G and sigma only that they bound heterogeneity and noise at its iterates. So the sharpest check takes the
largest ratio, G^2 and sigma^2 of the run itself; the coefficient that is claimed for the rule makes the bound
larger still.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration
from kappaguard.training.finite_json import largest
from kappaguard.training.theorems.constants import Constants, kappa_of, noise_of_batch

ROUNDING = {"float32": 1e-4, "float64": 1e-9}
"""By this part of L a measured slope may exceed it."""


@dataclass(frozen=True)
class Margin:
    """The left-hand side, and the right-hand side as stated, with measured and with claimed kappa.

    ``corrected`` is the bound with 9 kappa G^2 in place of 4 kappa G^2 (measured kappa); for Theorem 2 as stated.
    """

    rule: str
    attack: str
    steps: int
    left: float
    ratio: float
    stated: float
    corrected: float
    claimed: float | None

    @property
    def holds(self) -> bool:
        """Whether the bound as stated holds with the measured kappa."""
        return self.left <= self.stated

    @property
    def holds_corrected(self) -> bool:
        """Whether the corrected one does."""
        return self.left <= self.corrected


def _smoothness(configuration: Configuration, steps: list[dict[str, Any]], known: float | None) -> float:
    """L; where nobody knows it what the run assumed, else 1/gamma, unless its gradient was steeper somewhere."""
    assumed = configuration.assumed_smoothness or 1 / float(max(row["rate"] for row in steps))
    chosen = assumed if known is None else known
    steepest = largest([row["slope"] for row in steps if "slope" in row]) or 0.0
    if known is None and steepest > chosen:
        raise InputError(f"L is larger than {chosen:.3g}: between two points the gradient has slope {steepest:.3g}")
    if steepest > chosen * (1 + ROUNDING[configuration.dtype]):
        raise InputError(f"L is not {chosen:.6g}: between two points the gradient has slope {steepest:.6g}")
    return chosen


def margin(configuration: Configuration, rows: list[dict[str, Any]], result: dict[str, Any]) -> Margin:
    """Both sides for a finished run."""
    steps = [row for row in rows if "gradient_squared" in row]
    infimum = result["infimum"]
    if len(steps) != configuration.steps or infimum is None:
        raise InputError(
            "the theorems can be compared with a run only if L is known and every step was measured in full"
        )
    smoothness = _smoothness(configuration, steps, result["smoothness"])
    exact = configuration.algorithm == "gd"
    gradients = [row["gradient_squared"] for row in steps]
    left = gradients[result["output_step"]] if exact else sum(gradients) / len(gradients)
    ratio = max(math.inf if row["ratio"] is None else row["ratio"] for row in steps)

    def constants(kappa: float) -> Constants:
        return Constants(
            smoothness,
            max(0.0, steps[0]["loss"] - infimum),
            max(row["heterogeneity_squared"] for row in steps),
            noise_of_batch(configuration, max(row["noise_squared"] for row in steps)),
            kappa,
            configuration.n,
            configuration.f,
            configuration.steps,
        )

    def bound(kappa: float, weight: float) -> float:
        return constants(kappa).theorem_1(weight) if exact else constants(kappa).theorem_2()

    try:
        kappa: float | None = kappa_of(configuration)
    except InputError:
        kappa = None
    claimed = None if kappa is None else bound(kappa, 4.0)
    # with gamma chosen for the claimed kappa, Theorem 2 is stated for that one only
    used = ratio if exact or kappa is None else kappa
    stated, corrected = bound(used, 4.0), bound(used, 9.0)
    return Margin(
        configuration.rule, configuration.attack, configuration.steps, left, ratio, stated, corrected, claimed
    )


HEADINGS = [
    "rule",
    "attack",
    "T",
    "left",
    "stated",
    "left/stated",
    "corrected",
    "ratio (error²/variance)",
    "with claimed kappa",
    "holds",
]


def line(found: Margin) -> list[str]:
    """A margin as a row of the table."""
    return [
        found.rule,
        found.attack,
        str(found.steps),
        f"{found.left:.4g}",
        f"{found.stated:.4g}",
        f"{found.left / found.stated:.3f}" if found.stated > 0 else "",
        f"{found.corrected:.4g}",
        f"{found.ratio:.4g}",
        "" if found.claimed is None else f"{found.claimed:.4g}",
        "yes" if found.holds else "corrected only" if found.holds_corrected else "NO",
    ]
