"""Work on ranges of workers by threads of one core each: small operations gain nothing from being spread singly.

Threads inside single operations (torch's and those of BLAS) wait for each other by spinning. On a machine that is also
busy with something else, that made a step up to ten times as long, so a step does without them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from kappaguard.rules.native.sharing import thread_count

T = TypeVar("T")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Helpers, one pool per process: threads do not survive a fork."""
    import torch

    del process
    helpers = max(1, thread_count() - 1)
    return ThreadPoolExecutor(helpers, "kappaguard-training", initializer=lambda: torch.set_num_threads(1))


def over_ranges(
    count: int, work: Callable[[int, int], T], device: str, meanwhile: Callable[[], None] | None = None
) -> list[T]:
    """The results of work(begin, end) over ranges that together cover 0 .. count; one range unless on a CPU.

    ``meanwhile`` is begun by a thread that is ready, if there are several, and not waited for. The last range, which
    is never the shortest, is this thread's own: it begins at once.
    """
    parts = min(thread_count(), count) if device == "cpu" else 1
    if parts <= 1:
        return [work(0, count)]
    import torch

    bounds = [count * part // parts for part in range(parts + 1)]
    pool = _pool(os.getpid())
    others = [pool.submit(work, *ends) for ends in pairwise(bounds[:-1])]
    if meanwhile is not None:
        pool.submit(meanwhile)
    try:
        with undivided(device) if torch.get_num_threads() > 1 else nullcontext():
            last = work(*bounds[-2:])
    finally:
        wait(others)
    return [*(other.result() for other in others), last]


@cache
def _controller(process: int) -> Any:
    """What sets the number of threads of the BLAS libraries that are loaded."""
    from threadpoolctl import ThreadpoolController

    del process
    return ThreadpoolController()


@contextmanager
def undivided(device: str) -> Iterator[None]:
    """Operations on a CPU in one thread each."""
    if device != "cpu":
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _controller(os.getpid()).limit(limits=1, user_api="blas"):
            yield
    finally:
        torch.set_num_threads(before)
