"""One coordinate, and many: coordinates that are zero for everybody must change nothing.

How many there are grows step by step as long as the next step is likely to be quick: a rule that decomposes a d x d
matrix is not asked to do so for thousands of coordinates.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from kappaguard.verify.health.finding import Check, Finding
from kappaguard.verify.health.inputs import differs, gap, honest_first, plain
from kappaguard.verify.judgement import Floats
from kappaguard.verify.subject import Subject

SIZES = (16, 128, 1024, 8192)
MOST_ENTRIES = 1 << 20
PATIENCE = 0.5
"""Seconds that one call may be expected to take."""
CUBIC = 3
"""No rule is expected to grow faster with d than this power."""
FAR = 64.0


def _look(subject: Subject) -> Finding | None:
    for d in (1, 2):
        x = plain(subject.n, d)
        narrow = subject(x)
        for size in _sizes(subject):
            wide = np.zeros((subject.n, size))
            wide[:, :d] = x
            padded = subject(wide)
            if differs(padded[:d], narrow, x, subject) or np.any(np.abs(padded[d:]) > 1e-9):
                return _broken(subject, size) or CHECK.warn(
                    f"{size - d} coordinates that are zero for everybody change the result by "
                    f"{max(gap(padded[:d], narrow), float(np.max(np.abs(padded[d:])))):.3g}",
                    x,
                )
    return None


def _sizes(subject: Subject) -> Iterator[int]:
    """Rising, until the next is expected to take too long by the growth so far, and at least by its square."""
    before: tuple[int, float] | None = None
    for size in SIZES:
        if size * subject.n > MOST_ENTRIES:
            return
        if before is not None and before[1] * (size / before[0]) ** CUBIC > PATIENCE:
            # a quick look says more than the power that was feared
            small = _seconds(subject, before[0] * 2)
            power = max(1.0, np.log2(max(small, 1e-6) / max(before[1], 1e-6)))
            if small * (size / before[0] / 2) ** (power + 0.5) > PATIENCE:
                return
        before = size, _seconds(subject, size)
        yield size


def _seconds(subject: Subject, d: int) -> float:
    """Of one call in d dimensions."""
    x = plain(subject.n, d)
    start = time.perf_counter()
    subject(x)
    return time.perf_counter() - start


def _broken(subject: Subject, size: int) -> Finding | None:
    """Equal honest vectors in as many dimensions, if the result is off there: that refutes every claim."""
    if not subject.f or size * subject.n > MOST_ENTRIES:
        return None
    x: Floats = np.zeros((subject.n, size))
    x[subject.n - subject.f :, 0] = FAR
    error = gap(subject(x), x[0])
    if error <= float(subject.tolerance(size)) * FAR:
        return None
    said = f"in {size} dimensions all honest vectors are 0 and the result is off by {error:.3g}"
    return CHECK.warn(said, x, honest_first(subject), most=MOST_ENTRIES)


CHECK = Check("dimension", "Do dimension 1 and large ones work alike?", _look)
