"""What a dossier is about, and how hard to try."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from kappaguard.rules.base.checks import require_count, require_seconds, require_setting
from kappaguard.rules.base.errors import OutOfTime
from kappaguard.rules.witness import Witness
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.subject import Subject, subject_of

Row = dict[str, Any]
T = TypeVar("T")

N, F = 17, 4
EVALUATIONS = 10_000
TIMEOUT = 300.0
MEMORY = 4 << 30


@dataclass(frozen=True)
class Plan:
    """A rule, the (n, f) that it is mostly looked at for, evaluations of one search, a seed, and where witnesses go.

    ``tolerance`` is the text of a fraction, the relative error that is allowed; ``timeout`` the seconds of a section.
    """

    rule: str
    n: int = N
    f: int = F
    evaluations: int = EVALUATIONS
    seed: int = 0
    witnesses: str = "witnesses"
    memory: int = MEMORY
    tolerance: str | None = None
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        require_setting(self.n, self.f, 3, 1)
        require_count(self.seed, 0, "the seed")
        require_count(self.evaluations, 1, "the number of evaluations")
        require_seconds(self.timeout, "the timeout")

    @property
    def allowed(self) -> Fraction | None:
        """The tolerance as a number."""
        return None if self.tolerance is None else Fraction(self.tolerance)

    def subject(self) -> Subject:
        """The rule, ready to be examined."""
        return subject_of(self.rule, self.n, self.f, tolerance=self.allowed)

    def at(self, **changes: Any) -> Plan:
        """The same with other values."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """The plan as JSON, for the worker that carries it out."""
        return json.dumps(asdict(self))

    def keep(self, witness: Witness | None) -> str | None:
        """Save a witness; its file name."""
        if witness is None:
            return None
        folder = Path(self.witnesses)
        folder.mkdir(parents=True, exist_ok=True)
        return witness.save(folder).name


def plan_from_json(text: str) -> Plan:
    """The plan that ``to_json`` wrote."""
    return Plan(**json.loads(text))


def each_row(items: Iterable[T], make: Callable[[T], Row]) -> list[Row]:
    """One row after another; when the time is over, those that there are."""
    rows: list[Row] = []
    try:
        for item in items:
            rows.append(make(item))
            if rows[-1].get("unfinished"):
                break
    except OutOfTime:
        if not rows:
            raise
    return rows


def why(plan: Plan, witness: Witness) -> str | None:
    """Which failure an infinite ratio is."""
    from kappaguard.reports.dossier.failure import failure

    judged = plan.subject().judge(witness)
    return failure(math.inf, judged.witness, judged.output)


def bound(plan: Plan, d: int | None = None) -> dict[str, Any]:
    """The best lower bound that the search and the inputs of known lower bounds give, its witness saved."""
    from kappaguard.verify.guard.known import judgements
    from kappaguard.verify.judge.search import search

    known = list(judgements(plan.subject(), d))
    result = search(
        plan.rule, plan.n, plan.f, d=d, evaluations=plan.evaluations, seed=plan.seed, tolerance=plan.allowed
    )
    lower, witness = result.lower, result.witness
    for judgement in known:
        if witness is None or judgement.ratio > lower:
            lower, witness = judgement.ratio, judgement.witness
    return {
        "lower": number(lower),
        "why": None if witness is None or lower != math.inf else why(plan, witness),
        "witness": plan.keep(witness),
        "d": d if witness is None else witness.d,
        "evaluations": result.stats.evaluations,
        "seconds": result.stats.seconds,
        **({"unfinished": True} if result.stats.timed_out else {}),
    }
