"""What is known about kappa* of a rule: one object for every way of finding out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from kappaguard.rules.witness import Witness

Bound = Fraction | float


class Status(Enum):
    """How much the two bounds say."""

    EXACT = "exact"
    """They agree to within ``RELATIVE_GAP``."""
    BRACKET = "bracket"
    """Both are finite, and they do not."""
    LOWER = "lower"
    """Only the lower one is known."""
    INFINITE = "infinite"
    """A witness shows that no kappa holds."""


RELATIVE_GAP = 1e-6


@dataclass(frozen=True)
class Improvement:
    """One point of a convergence trace: who raised the best ratio to what, after how much work, in which dimension."""

    adversary: str
    evaluations: int
    seconds: float
    ratio: float
    dimension: int


@dataclass(frozen=True)
class Stats:
    """What it cost, and for a search how it went.

    ``dimensions`` has the best ratio per dimension, ``faults`` counts inputs for which the rule returned no vector
    (the first one in words: ``fault``), ``interrupted`` says that it was stopped before its end, by the user or
    because it was ``timed_out``. ``precision`` says in words what the rule was measured to be exact to.
    """

    seconds: float
    evaluations: int = 0
    programs: int = 0
    seed: int | None = None
    adversaries: tuple[str, ...] = ()
    trace: tuple[Improvement, ...] = ()
    dimensions: tuple[tuple[int, float], ...] = ()
    faults: int = 0
    fault: str | None = None
    interrupted: bool = False
    timed_out: bool = False
    precision: str | None = None


@dataclass(frozen=True)
class KappaResult:
    """kappa* >= lower, by the witness; kappa* <= upper, by the certificate or, without one, by ``proof``.

    ``scope`` says what the bounds are about where that is not simply the rule: a recipe traced from its code.
    """

    rule: str
    n: int
    f: int
    lower: Bound
    upper: Bound | None
    witness: Witness | None
    certificate: str | None
    proof: str | None
    stats: Stats = field(compare=False)
    scope: str | None = None

    @property
    def gap(self) -> float:
        """(upper - lower) / upper; nan without an upper bound."""
        if self.upper is None or self.upper == math.inf:
            return math.nan
        return float((self.upper - self.lower) / self.upper) if self.upper else 0.0

    @property
    def status(self) -> Status:
        """How much the two bounds say."""
        if self.lower == math.inf:
            return Status.INFINITE
        if self.upper is None:
            return Status.LOWER
        return Status.EXACT if self.gap <= RELATIVE_GAP else Status.BRACKET


def grown_until(dimensions: Sequence[tuple[int, float]]) -> int:
    """The smallest dimension in which the ratio is as large as in any."""
    most = max(ratio for _, ratio in dimensions)
    return min(d for d, ratio in dimensions if ratio >= most * (1 - RELATIVE_GAP))
