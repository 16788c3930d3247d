"""The worst inputs of known rules, shown to any rule: a copy of one of them gets its kappa* before any search."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from kappaguard.search.worst_inputs import worst_inputs
from kappaguard.verify.judge.judgement import Judgement
from kappaguard.verify.judge.subject import Subject

MOST_VECTORS = 200
"""Beyond so many they are left to the search."""


def judgements(subject: Subject, d: int | None = None) -> Iterator[Judgement]:
    """What each of them proves about the rule, in d dimensions if that is given; none without adversaries.

    Ties are broken by the order of the workers, by each copy of a rule in its own way: so the order is also reversed,
    unless one call takes long.
    """
    if subject.n > MOST_VECTORS:
        return
    for found in worst_inputs(subject.n, subject.f):
        if d is not None and len(found.x[0]) > d:
            continue
        wide = np.array([[*row, *[Fraction(0)] * ((d or 0) - len(row))] for row in found.x], dtype=object)
        name = f"extremal for {found.rule}"
        yield subject.judge(subject.witness(wide, found.honest, name))
        if not subject.brief:
            last = subject.n - 1
            yield subject.judge(subject.witness(wide[::-1], sorted(last - index for index in found.honest), name))
