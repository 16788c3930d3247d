"""One coordinate, and many: coordinates that are zero for everybody must change nothing.

How many there are grows step by step as long as the next step is likely to be quick: a rule that decomposes a d x d
matrix is not asked to do so for thousands of coordinates.
"""

from __future__ import annotations

import time

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

SIZES = (16, 64, 256, 1024, 2048, 8192)
MOST_ENTRIES = 1 << 20
PATIENCE = 2.0
"""Seconds that one call may be expected to take."""
POWER = 2.5
"""How a call may grow with d: a decomposition of a d x d matrix grows with the third power, but begins with less."""
FAR = 64.0


def _look(subject: Subject) -> HealthFinding | None:
    for d in (1,) if subject.brief else (1, 2):
        x = plain(subject.n, d)
        narrow = subject(x)
        before: tuple[int, float] | None = None
        for size in SIZES:
            if size * subject.n > MOST_ENTRIES or not _bearable(before, size):
                break
            wide = np.zeros((subject.n, size))
            wide[:, :d] = x
            start = time.perf_counter()
            padded = subject(wide)
            before = size, time.perf_counter() - start
            if differs(padded[:d], narrow, x, subject) or np.any(np.abs(padded[d:]) > 1e-9):
                off = max(gap(padded[:d], narrow), float(np.max(np.abs(padded[d:]))))
                said = f"{size - d} coordinates that are zero for everybody change the result by {off:.3g}"
                return CHECK.beside(subject, f"in {size} dimensions", size, FAR) or CHECK.warn(said, x)
    return None


def _bearable(before: tuple[int, float] | None, size: int) -> bool:
    """Whether a call in ``size`` dimensions is likely to be quick after one in fewer."""
    return before is None or before[1] * (size / before[0]) ** POWER <= PATIENCE


CHECK = Check("dimension", "Do dimension 1 and large ones work alike?", _look)
