"""One coordinate, and many: coordinates that are zero for everybody must change nothing."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.health.finding import Check, Finding
from kappaguard.verify.health.inputs import differs, gap, plain
from kappaguard.verify.subject import Subject

LARGE = 4096
MOST_ENTRIES = 1 << 21


def _look(subject: Subject) -> Finding | None:
    for d in (1, 2):
        x = plain(subject.n, d)
        large = max(2 * d, min(LARGE, MOST_ENTRIES // subject.n))
        wide = np.zeros((subject.n, large))
        wide[:, :d] = x
        narrow, padded = subject(x), subject(wide)
        if differs(padded[:d], narrow, x, subject) or np.any(np.abs(padded[d:]) > 1e-9):
            off = max(gap(padded[:d], narrow), float(np.max(np.abs(padded[d:]))))
            return CHECK.warn(f"{large - d} coordinates that are zero for everybody change the result by {off:.3g}", x)
    return None


CHECK = Check("dimension", "Do dimension 1 and large ones work alike?", _look)
