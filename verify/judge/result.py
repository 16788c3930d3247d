"""What is known about kappa* of a rule: one object for every way of finding out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from kappaguard.rules.witness import Bound, Witness
from kappaguard.search.stats import Stats


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
