"""The end of the time that a worker has: it is told a little before, so that it can say what it found."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from kappaguard.rules.base.errors import OutOfTime

TINY = 0.001
RESERVE, LEAST, MOST = 0.2, 0.5, 15.0
"""The part of the time that is kept for telling, at least and at most so many seconds."""


@contextmanager
def deadline(seconds: float, begun: float) -> Iterator[None]:
    """Raise OutOfTime in the main thread shortly before so many seconds have passed since ``begun``, once.

    The time is that of the system's monotonic clock, which all processes share.
    """
    if not hasattr(signal, "setitimer"):
        # without it the process is ended from outside, and what it has written down is what there is
        yield
        return

    def over(*_: int | FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, over)
    last = begun + max(seconds / 2, seconds - min(MOST, max(LEAST, RESERVE * seconds)))
    signal.setitimer(signal.ITIMER_REAL, max(TINY, last - time.monotonic()))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
