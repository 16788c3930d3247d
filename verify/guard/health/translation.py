"""F(x + c) = F(x) + c: where the origin is must not matter."""

from __future__ import annotations

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

SHIFT = 1024.0


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.translates:
        return None
    for d in (1,) if subject.brief else (1, 3):
        x = plain(subject.n, d)
        moved = subject(x + SHIFT) - SHIFT
        here = subject(x)
        if differs(moved, here, x, subject):
            return CHECK.warn(f"F(x + {SHIFT:g}) - {SHIFT:g} differs from F(x) by {gap(moved, here):.3g}", x)
    return None


CHECK = Check("translation", "Is F(x + c) = F(x) + c?", _look)
