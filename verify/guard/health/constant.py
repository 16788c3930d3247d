"""A coordinate that is the same non-zero number for everybody: it comes back, and changes nothing else."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

NUMBER = 3.0
PLACES = (2, 0)
"""Behind the other coordinates, and in front of them."""


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.translates:
        return None
    x = plain(subject.n, 2)
    narrow = subject(x)
    for place in PLACES[:1] if subject.brief else PLACES:
        wide = np.insert(x, place, NUMBER, axis=1)
        widened, expected = subject(wide), np.insert(narrow, place, NUMBER)
        if differs(widened, expected, wide, subject):
            said = f"a coordinate that is {NUMBER:g} for everybody changes the result by {gap(widened, expected):.3g}"
            return CHECK.warn(said, wide)
    return None


CHECK = Check("constant", "Does a coordinate that is the same for everybody come back, and change nothing else?", _look)
