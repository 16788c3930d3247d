"""A coordinate that is the same non-zero number for everybody: it comes back, and changes nothing else."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.guard.health.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

NUMBER = 3.0


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.translates:
        return None
    x = plain(subject.n, 2)
    wide = np.hstack([x, np.full((subject.n, 1), NUMBER)])
    narrow, widened = subject(x), subject(wide)
    if differs(widened, np.append(narrow, NUMBER), wide, subject):
        off = gap(widened, np.append(narrow, NUMBER))
        return CHECK.warn(f"a coordinate that is {NUMBER:g} for everybody changes the result by {off:.3g}", wide)
    return None


CHECK = Check("constant", "Does a coordinate that is the same for everybody come back, and change nothing else?", _look)
