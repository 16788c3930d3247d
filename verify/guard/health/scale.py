"""F(a x) = a F(x) for a > 0: the unit must not matter."""

from __future__ import annotations

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

FACTORS = (2.0**10, 2.0**-10, 2.0**40, 2.0**-40, 2.0**100, 2.0**-100)
FAR = 64.0


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
                said = f"F({factor:g} x) / {factor:g} differs from F(x) by {gap(scaled, here):.3g}"
                # near 0 a guard against division by 0 may show, which is not meant as a claim about such numbers
                broken = CHECK.beside(subject, f"in units of {factor:g}", d, FAR * factor) if factor > 1 else None
                return broken or CHECK.warn(said, x)
    return None


CHECK = Check("scale", "Is F(a x) = a F(x) for a > 0?", _look)
