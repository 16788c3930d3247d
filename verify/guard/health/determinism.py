"""The same input gives the same output. A random rule has a kappa* that is a supremum over its randomness."""

from __future__ import annotations

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, plain
from kappaguard.verify.judge.judgement import Floats
from kappaguard.verify.judge.subject import Subject

CALLS, MANY = 5, 100
"""With one seed after another, and with the same one: what differs in one of 22 calls shows up with 99 % confidence."""


def _look(subject: Subject) -> HealthFinding | None:
    x = plain(subject.n, 3)
    # the first call through the adapter turns a fault into a finding
    first = subject(x)
    calls = 2 if subject.brief else MANY
    same = [subject.outcome(x) for _ in range(calls - 1)]
    different = _distinct([first, *same], x, subject)
    if different > 1:
        return CHECK.warn(f"{different} different outputs in {calls} calls, with every known seed fixed", x)
    if subject.brief:
        return None
    seeds = [subject.outcome(x, seed) for seed in range(1, CALLS)]
    different = _distinct([first, *seeds], x, subject)
    if different > 1:
        return CHECK.warn(f"{different} different outputs for {CALLS} seeds of the global random generators", x)
    return None


def _distinct(outputs: list[Floats], x: Floats, subject: Subject) -> int:
    kinds: list[Floats] = []
    for output in outputs:
        if not any(not differs(output, other, x, subject) for other in kinds):
            kinds.append(output)
    return len(kinds)


CHECK = Check("determinism", "Does the same input give the same output?", _look)
