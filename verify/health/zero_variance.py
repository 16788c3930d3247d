"""All honest vectors equal and the others far away: every (f, kappa)-robust rule returns the honest vector.

With no variance the definition allows no error, whatever kappa is: one such input with an error makes kappa* infinite.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kappaguard.verify.health.finding import Check, Finding
from kappaguard.verify.health.inputs import gap, honest_first, honest_last
from kappaguard.verify.judgement import Failed, Floats
from kappaguard.verify.subject import Subject

HONEST = (1.0, 0.0, -1000.0)
FAR = (-1.0, 64.0, 1000.0, 1e6)
DIMENSIONS = (1, 2)


def inputs(subject: Subject) -> Iterator[tuple[Floats, tuple[int, ...]]]:
    """Small numbers and one dimension first; the adversary's vectors first, last, equal, and spread out."""
    for d in DIMENSIONS:
        for far in FAR:
            for honest in HONEST:
                for subset in (honest_last(subject), honest_first(subject)):
                    others = [worker for worker in range(subject.n) if worker not in set(subset)]
                    x = np.full((subject.n, d), honest)
                    x[others] = honest + far
                    yield x.copy(), subset
                    if len(others) > 1:
                        x[others] = honest + far * np.arange(1, len(others) + 1)[:, None]
                        yield x, subset


def _look(subject: Subject) -> Finding | None:
    if subject.f == 0:
        x = np.ones((subject.n, 1))
        return _wrong(x, tuple(range(subject.n)), subject)
    for x, subset in inputs(subject):
        found = _wrong(x, subset, subject)
        if found is not None:
            return found
    return None


def _wrong(x: Floats, subset: tuple[int, ...], subject: Subject) -> Finding | None:
    honest = x[subset[0]]
    try:
        output = subject(x)
    except Failed as failed:
        return CHECK.warn(f"all honest vectors are {honest[0]:g} and the rule {failed}", x, subset)
    error = gap(output, honest)
    if error <= float(subject.tolerance(x.shape[1])) * float(np.max(np.abs(x))):
        return None
    return CHECK.warn(
        f"all honest vectors are {honest[0]:g} and the result is off by {error:.3g}: kappa* is infinite", x, subset
    )


CHECK = Check("zero-variance", "Is the honest vector returned if all honest vectors are equal?", _look)
