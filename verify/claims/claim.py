"""What a claim is: one statement, the verdict that is expected of it, and a check that finds the verdict anew.

A file of claims exports CLAIM, or CLAIMS, and is listed in ``registry``. Its docstring gives, in this order, the
problem, the statement, what is computed, and the reference; where a proof has a gap it says where. Heavy imports
(sympy, cvxpy, torch) belong inside the check.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from kappaguard.rules.witness import Witness

Verdict = Literal["proved", "refuted", "open"]
Method = Literal["symbolic", "exact", "search", "simulated"]
"""An argument for all parameters, in the docstring, its algebra checked with sympy; exact arithmetic, cone programs and
certificates; an adversary; runs."""
Relation = Literal["<=", ">=", "=="]
Report = Callable[[int, int], None]
"""Told how many of how many steps are done."""

TOLERANCE = 1e-9
"""How far, relatively, two numbers that claim to be equal may differ in floating point."""


class Effort(Enum):
    """How much time a run may take: a minute, five minutes, or as long as it needs, for all claims together."""

    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"

    def choose(self, quick: Any, default: Any, full: Any) -> Any:
        """One of three, by effort."""
        return {"quick": quick, "default": default, "full": full}[self.value]


@dataclass(frozen=True)
class Budget:
    """How hard a search tried."""

    evaluations: int
    seconds: float
    seed: int | None = None


@dataclass(frozen=True)
class Finding:
    """What a check found.

    ``computed`` and ``stated`` are two numbers of which the statement says that computed ``relation`` stated; they are
    the pair where the statement is tightest, or fails worst. ``detail`` is a sentence or two for a reader who has the
    statement before them. A witness is an input with a ratio, or anything that JSON can hold and that shows the
    failure.
    """

    verdict: Verdict
    methods: tuple[Method, ...]
    computed: float | None
    stated: float | None
    detail: str
    relation: Relation = "<="
    witness: Witness | dict[str, Any] | None = None
    budget: Budget | None = None

    def __post_init__(self) -> None:
        if self.verdict == "refuted" and self.witness is None:
            raise ValueError("a refuted claim needs a witness")
        if self.verdict == "open" and self.budget is None:
            raise ValueError("an open claim says how hard it was tried")
        if not self.methods:
            raise ValueError("a finding names its methods")
        if (self.holds is False and self.verdict != "refuted") or (self.holds and self.verdict == "refuted"):
            raise ValueError(f"{self.verdict}, but {self.computed} {self.relation} {self.stated} is {self.holds}")

    @property
    def tightness(self) -> float | None:
        """computed / stated: 1 if the statement cannot be improved."""
        if self.computed is None or not self.stated:
            return None
        return self.computed / self.stated

    @property
    def holds(self) -> bool | None:
        """Whether the two numbers are as stated, up to rounding; None without them."""
        if self.computed is None or self.stated is None:
            return None
        if self.computed == self.stated:
            return True
        slack = TOLERANCE * max(abs(self.computed), abs(self.stated))
        slack = slack if math.isfinite(slack) else 0.0
        below, above = self.computed <= self.stated + slack, self.computed >= self.stated - slack
        return {"<=": below, ">=": above, "==": below and above}[self.relation]


@dataclass(frozen=True)
class Sides:
    """Both sides of a statement, that computed ``relation`` stated, at one instance."""

    computed: Fraction
    relation: Relation
    stated: Fraction

    @property
    def hold(self) -> bool:
        """Whether they are as stated."""
        return {
            "<=": self.computed <= self.stated,
            ">=": self.computed >= self.stated,
            "==": self.computed == self.stated,
        }[self.relation]


@dataclass(frozen=True)
class Claim:
    """One statement with its source, the recorded verdict, and the check.

    ``source`` is the place in the paper with its label, or ``kappaguard`` for a statement of ours; ``corrects`` names
    the claim that a corrected statement replaces. ``sides`` evaluates the statement on an instance, the kind of witness
    of a statement that is not about one ratio.
    """

    name: str
    statement: str
    source: str
    expected: Verdict
    check: Callable[[Effort, Report], Finding]
    corrects: str | None = None
    sides: Callable[[dict[str, Any]], Sides] | None = None
