"""What a claim is: one statement, the verdict that is expected of it, and a check that finds the verdict anew.

What ``proved`` rests on is the claim's ``scope``, and what a refutation is about is its ``kind``. The numbers of a
statement are ``terms``: the prose is written from them, and the check reads them.

A file of claims exports CLAIM, or CLAIMS, and is listed in ``registry``. Its docstring gives, in this order, the
problem, the statement, what is computed, and the reference; where a proof has a gap it says where. Heavy imports
(sympy, cvxpy, torch) belong inside the check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from kappaguard.rules.witness import Witness
from kappaguard.verify.theory.term import Term

Verdict = Literal["proved", "refuted", "open"]
Method = Literal["symbolic", "exact", "search", "simulated"]
"""An argument for all parameters, in the docstring, its algebra checked with sympy; exact arithmetic, cone programs and
certificates; an adversary; runs."""
Scope = Literal["algebra", "instances", "certified", "setting"]
Kind = Literal["theorem", "proof step", "misprint", "reading", "outside"]
SCOPES: Mapping[Scope, str] = {
    "algebra": "all n and f: proof in the docstring, its algebra checked for all sizes",
    "instances": "all n and f: proof in the docstring, instances run",
    "certified": "certified up to a size",
    "setting": "one finite setting",
}
"""What ``proved`` rests on."""
KINDS: Mapping[Kind, str] = {
    "theorem": "the statement itself fails, within its assumptions",
    "proof step": "a step of a proof fails; the result stands",
    "misprint": "what is printed fails; what is meant holds",
    "reading": "one reading of the text fails",
    "outside": "fails only outside what the paper assumes",
}
"""What a refutation is about."""
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
    reach: str | None = None
    """How far a scope with a size went in this run: "n <= 13"."""

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
    of a statement that is not about one ratio. In ``wording`` names in braces stand for the terms, which ``check``
    takes as keywords.
    """

    name: str
    wording: str
    source: str
    expected: Verdict
    check: Callable[..., Finding]
    corrects: str | None = None
    sides: Callable[[dict[str, Any]], Sides] | None = None
    scope: Scope | None = None
    kind: Kind | None = None
    terms: Mapping[str, Term] = field(default_factory=dict)

    @property
    def statement(self) -> str:
        """The statement in words."""
        return (
            self.wording.format(**{name: term.text for name, term in self.terms.items()})
            if self.terms
            else self.wording
        )

    @property
    def basis(self) -> str:
        """What ``proved`` rests on, or what is refuted, in words."""
        if self.expected == "refuted":
            return KINDS[self.kind] if self.kind else ""
        return SCOPES[self.scope] if self.scope else ""

    def grounds(self, finding: Finding | None) -> str:
        """The scope with its reach, or the kind, in a few words: "certified, n <= 9"."""
        if finding is None:
            return ""
        if finding.verdict == "refuted":
            return self.kind or ""
        return ", ".join(part for part in (self.scope, finding.reach) if part)

    def run(self, effort: Effort, report: Report) -> Finding:
        """The check of what is stated."""
        return self.check(effort, report, **self.terms)

    def restated(self, name: str, factor: Fraction) -> Claim:
        """The same claim with one of its terms multiplied by a number."""
        return replace(self, terms={**self.terms, name: self.terms[name].scaled(factor)})
