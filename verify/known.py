"""The inputs of known lower bounds, shown to any rule: for a slow one they are more than a search gets to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kappaguard.search.exact.known import known_inputs
from kappaguard.verify.judgement import Judgement
from kappaguard.verify.subject import Subject

MOST_VECTORS = 200
"""Beyond so many they are left to the search."""


def judged(under: Subject, d: int | None = None) -> list[Judgement]:
    """What each of them proves about the rule, in d dimensions if that is given; none without adversaries."""
    if not under.f or under.n > MOST_VECTORS:
        return []
    found = []
    for x, honest, found_by in known_inputs(under.n, under.f):
        if d is not None and len(x[0]) > d:
            continue
        wide = [[*row, *[Fraction(0)] * ((d or 0) - len(row))] for row in x]
        found.append(under.judge(under.witness(np.array(wide, dtype=object), honest, found_by)))
    return found
