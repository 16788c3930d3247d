"""Health checks: cheap questions to a rule, asked before any search. Most broken rules die here.

Each check is a file with one ``CHECK``. ``examine`` asks them all; what it finds refutes the claim only if the example
is an input and a set S whose ratio, judged in exact arithmetic with rounding allowed for, exceeds the claim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from kappaguard.rules.witness import Bound, Witness
from kappaguard.verify.guard.finding import Check, Example, HealthFinding, example
from kappaguard.verify.guard.health import (
    cancellation,
    claimed_examples,
    constant,
    determinism,
    dimension,
    non_finite,
    offset,
    output,
    permutation,
    purity,
    rotation,
    scale,
    smallest,
    statelessness,
    translation,
    zero_variance,
)
from kappaguard.verify.guard.health.inputs import honest_first
from kappaguard.verify.judge.judgement import Failed, Judgement
from kappaguard.verify.judge.repeated import repeated
from kappaguard.verify.judge.subject import Subject

CHECKS: tuple[Check, ...] = tuple(
    module.CHECK
    for module in (
        output,
        zero_variance,
        translation,
        constant,
        scale,
        permutation,
        rotation,
        determinism,
        purity,
        statelessness,
        non_finite,
        offset,
        cancellation,
        dimension,
        smallest,
        claimed_examples,
    )
)

__all__ = ["CHECKS", "Check", "Example", "Health", "HealthFinding", "examine"]


@dataclass(frozen=True)
class Health:
    """What the checks found, the witness of the worst finding that refutes the claim, and whether it always does."""

    findings: tuple[HealthFinding, ...]
    judgement: Judgement | None = None
    reproducible: bool = True

    @property
    def witness(self) -> Witness | None:
        """The input that refutes the claim, if a check had one."""
        return None if self.judgement is None else self.judgement.witness


def examine(
    subject: Subject,
    claim: Bound,
    begin: Callable[[str], None] = lambda check: None,
    tell: Callable[[HealthFinding], None] = lambda finding: None,
) -> Health:
    """Every check in turn; ``begin`` is told its name, ``tell`` what it found."""
    findings: list[HealthFinding] = []
    worst: Judgement | None = None
    always = True
    chance: list[str] = []
    for check in CHECKS:
        begin(check.name)
        found = _asked(check, subject)
        if found is None or any(found.message == other.message for other in findings) or _distrusts(found, subject):
            continue
        judgement = _judged(found, subject)
        if judgement is not None and judgement.ratio > claim:
            again = repeated(judgement, subject, claim)
            chance += [] if again.words is None else [again.words]
            if again.judgement is not None:
                found = dataclasses.replace(found, refutes=True)
                if worst is None or again.judgement.ratio > worst.ratio:
                    worst, always = again.judgement, again.words is None
        findings.append(found)
        tell(found)
    findings += [HealthFinding("determinism", False, words) for words in chance[:1]]
    return Health(tuple(findings), worst, always)


def _asked(check: Check, subject: Subject) -> HealthFinding | None:
    try:
        return check.look(subject)
    except Failed as failed:
        subset = honest_first(subject) if failed.x.shape[0] == subject.n else None
        shown = example(failed.x, subset)
        return HealthFinding(check.name, False, f"no finite vector for a finite input: the rule {failed}"[:500], shown)


def _distrusts(found: HealthFinding, subject: Subject) -> bool:
    """Whether the example makes a Byzantine worker of one that is trusted: then it shows nothing."""
    seen = found.example
    if subject.trusted is None or seen is None or seen.subset is None:
        return False
    return subject.trusted not in seen.subset


def _judged(found: HealthFinding, subject: Subject) -> Judgement | None:
    """What the example of a finding proves, if it is an input of this (n, f) with a set S."""
    seen = found.example
    if seen is None or seen.subset is None or len(seen.x) != subject.n or not seen.finite:
        return None
    return subject.judge(subject.witness(seen.array, seen.subset, f"health check {found.check}"), found.output)
