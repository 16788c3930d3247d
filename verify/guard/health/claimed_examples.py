"""Clients say how many examples they have: whoever claims none, or a billion, must not get the result.

Where all honest vectors are equal, every robust rule returns them, whatever the others claim. A rule that weighs by
claims and takes every one at its word does not: with f clients its kappa* is infinite (``kappaguard.rules.weighted``
shows that no rule escapes that which has no cap). It warns: the claim under examination is about equal numbers.
"""

from __future__ import annotations

from itertools import islice

from kappaguard.rules.foreign.counts import takes_counts, with_counts
from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import gap
from kappaguard.verify.judge.judgement import Failed, Floats
from kappaguard.verify.judge.precision import equal_honest
from kappaguard.verify.judge.subject import Subject

CLAIMS = (10**9, 0)
FEW = 8


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.f or not takes_counts(subject.rule):
        return None
    for x, subset in islice(equal_honest(subject.n, subject.f), FEW):
        if not _is_right(subject.rule, x, subset, subject):
            # it needs no lies to be wrong, which is the finding of another check
            return None
        for claim in CLAIMS:
            counts = tuple(1 if worker in subset else claim for worker in range(subject.n))
            if not _is_right(with_counts(subject.rule, counts), x, subset, subject):
                return CHECK.warn(
                    f"{subject.f} of {subject.n} clients claim {claim} examples each, the others 1: all honest vectors"
                    f" are {x[subset[0], 0]:g} and the result is another; cap what clients may claim",
                    x,
                )
    return None


def _is_right(rule: object, x: Floats, subset: tuple[int, ...], subject: Subject) -> bool:
    """Whether the honest vector is returned."""
    asked = Subject(subject.spec, rule, subject.n, subject.f, subject.precision, subject.allowed)  # type: ignore[arg-type]
    try:
        output = asked(x)
    except Failed:
        return False
    return gap(output, x[subset[0]]) <= float(asked.tolerance(x.shape[1])) * float(abs(x).max())


CHECK = Check("claimed-examples", "Does a client that claims a billion examples leave the result as it is?", _look)
