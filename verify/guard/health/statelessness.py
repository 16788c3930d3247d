"""The second call equals the first: what came before must not matter."""

from __future__ import annotations

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject


def _look(subject: Subject) -> HealthFinding | None:
    x, other = plain(subject.n, 2) * 2.0**10, plain(subject.n, 2, seed=1) * 2.0**20
    while not subject.comfortable(other):
        x, other = x / 2, other / 2
    lasting = subject.lasting()
    first = lasting(x)
    lasting(other)
    second = lasting(x)
    if differs(first, second, x, subject):
        return CHECK.warn(f"after a call on another input the result for x differs by {gap(first, second):.3g}", x)
    return None


CHECK = Check("statelessness", "Does the second call equal the first?", _look)
