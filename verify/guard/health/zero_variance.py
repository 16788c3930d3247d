"""All honest vectors equal and the others far away: every (f, kappa)-robust rule returns the honest vector.

With no variance the definition allows no error, whatever kappa is: one such input with an error makes kappa* infinite.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import gap
from kappaguard.verify.judge.judgement import Failed, Floats
from kappaguard.verify.judge.precision import equal_honest
from kappaguard.verify.judge.subject import Subject

FEW = 4
"""Inputs for a rule that takes long."""


def _look(subject: Subject) -> HealthFinding | None:
    if subject.f == 0:
        x = np.ones((subject.n, 1))
        return _wrong(x, tuple(range(subject.n)), subject)
    for x, subset in islice(equal_honest(subject.n, subject.f), FEW if subject.brief else None):
        found = _wrong(x, subset, subject)
        if found is not None:
            return found
    return None


def _wrong(x: Floats, subset: tuple[int, ...], subject: Subject) -> HealthFinding | None:
    honest = x[subset[0]]
    try:
        output = subject(x)
    except Failed as failed:
        return CHECK.warn(f"all honest vectors are {honest[0]:g} and the rule {failed}", x, subset)
    error = gap(output, honest)
    if error <= float(subject.tolerance(x.shape[1])) * float(np.max(np.abs(x))):
        return None
    said = f"all honest vectors are {honest[0]:g} and the result is off by {error:.3g}: kappa* is infinite"
    return CHECK.warn(said, x, subset, output=output)


CHECK = Check("zero-variance", "Is the honest vector returned if all honest vectors are equal?", _look)
