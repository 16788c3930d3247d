"""Honest vectors of size one beside huge ones: a rule that adds and subtracts the huge ones loses the honest digits."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import gap, honest_first
from kappaguard.verify.judge.judgement import Failed
from kappaguard.verify.judge.subject import Subject

HUGE = (1e8, 1e12, 1e20)
NEGLIGIBLE = 1e-6
SHARE = 1e-3
"""An error that is more than this of the huge ones is no loss of digits; the check of zero variance has it."""


def _look(subject: Subject) -> HealthFinding | None:
    if subject.f == 0:
        return None
    for size in HUGE[:1] if subject.brief else HUGE:
        x = np.ones((subject.n, 1))
        x[subject.n - subject.f :] = size
        try:
            error = gap(subject(x), x[0])
        except Failed as failed:
            # squares of such numbers leave the range of float32: no reason to refute a claim on real numbers
            return CHECK.warn(f"beside vectors of size {size:g} the rule {failed}", x)
        if NEGLIGIBLE < error < SHARE * size:
            said = f"beside vectors of size {size:g}, honest ones of size 1 come out off by {error:.3g}"
            return CHECK.warn(said, x, honest_first(subject))
    return None


CHECK = Check("cancellation", "Do huge vectors drown the digits of the honest ones?", _look)
