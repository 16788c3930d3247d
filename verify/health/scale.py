"""F(a x) = a F(x) for a > 0: the unit must not matter."""

from __future__ import annotations

from kappaguard.verify.health.finding import Check, Finding
from kappaguard.verify.health.inputs import differs, gap, plain
from kappaguard.verify.subject import Subject

FACTORS = (1024.0, 1 / 1024)


def _look(subject: Subject) -> Finding | None:
    if not subject.traits.scales:
        return None
    for d in (1, 3):
        x = plain(subject.n, d)
        here = subject(x)
        for factor in FACTORS:
            scaled = subject(x * factor) / factor
            if differs(scaled, here, x, subject):
                return CHECK.warn(f"F({factor:g} x) / {factor:g} differs from F(x) by {gap(scaled, here):.3g}", x)
    return None


CHECK = Check("scale", "Is F(a x) = a F(x) for a > 0?", _look)
