"""The order of the workers must not matter: otherwise the adversary chooses the place that suits it."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

INPUTS = 4
"""Some rules have ties on some plain inputs, and break them by the order: only what differs on each input counts."""


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.symmetric:
        return None
    shown = [_differing(subject, seed) for seed in range(1 if subject.brief else INPUTS)]
    return shown[0] if all(shown) else None


def _differing(subject: Subject, seed: int) -> HealthFinding | None:
    x = plain(subject.n, 3, seed)
    here = subject(x)
    for name, order in (
        ("in reverse order", np.arange(subject.n)[::-1]),
        ("moved on by one place", np.roll(np.arange(subject.n), 1)),
    ):
        again = subject(np.ascontiguousarray(x[order]))
        if differs(again, here, x, subject):
            return CHECK.warn(f"the same vectors {name} give a result that differs by {gap(again, here):.3g}", x)
    return None


CHECK = Check("permutation", "Does the order of the workers not matter?", _look)
