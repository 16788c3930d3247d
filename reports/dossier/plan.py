"""What a dossier is about, and how hard to try."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kappaguard.rules.checks import require_count, require_positive
from kappaguard.rules.errors import InputError
from kappaguard.rules.witness import Witness
from kappaguard.verify.subject import require_few, subject
from kappaguard.verify.verdict import number

N, F = 17, 4
BUDGET = 3.0
MEMORY = 4 << 30


@dataclass(frozen=True)
class Plan:
    """A rule, the (n, f) that it is mostly looked at for, seconds for one search, a seed, and where witnesses go."""

    rule: str
    n: int = N
    f: int = F
    budget: float = BUDGET
    seed: int = 0
    witnesses: str = "witnesses"
    memory: int = MEMORY

    def __post_init__(self) -> None:
        require_count(self.n, 3, "n")
        require_count(self.f, 1, "f")
        require_count(self.seed, 0, "the seed")
        require_positive(self.budget, "the budget")
        require_few(self.n)
        if 2 * self.f >= self.n:
            raise InputError(f"no rule is robust unless f < n/2, got n = {self.n} and f = {self.f}")

    def at(self, **changes: Any) -> Plan:
        """The same with other values."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """As text."""
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


def bound(plan: Plan, d: int | None = None) -> dict[str, Any]:
    """The best lower bound that the search and the inputs of known lower bounds give, its witness saved."""
    from kappaguard.verify.known import judged
    from kappaguard.verify.lower import search

    result = search(plan.rule, plan.n, plan.f, d=d, budget=plan.budget, seed=plan.seed)
    lower, witness = result.lower, result.witness
    for judgement in judged(subject(plan.rule, plan.n, plan.f), d):
        if witness is None or judgement.ratio > lower:
            lower, witness = judgement.ratio, judgement.witness
    return {
        "lower": number(lower),
        "witness": plan.keep(witness),
        "d": d if witness is None else witness.d,
        "evaluations": result.stats.evaluations,
        "seconds": result.stats.seconds,
    }
