"""F(a x) = a F(x) for a > 0: the unit must not matter."""

from __future__ import annotations

from kappaguard.verify.guard.health.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

FACTORS = (2.0**10, 2.0**-10, 2.0**40, 2.0**-40, 2.0**100, 2.0**-100)


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.scales:
        return None
    for d in (1,) if subject.brief else (1, 3):
        x = plain(subject.n, d)
        here = subject(x)
        for factor in FACTORS[-3:-1] if subject.brief else FACTORS:
            if not (subject.comfortable(x * factor) and subject.comfortable(x / factor)):
                # beyond the range of its floats a rule cannot be asked for more
                continue
            scaled = subject(x * factor) / factor
            if differs(scaled, here, x, subject):
                return CHECK.warn(f"F({factor:g} x) / {factor:g} differs from F(x) by {gap(scaled, here):.3g}", x)
    return None


CHECK = Check("scale", "Is F(a x) = a F(x) for a > 0?", _look)
