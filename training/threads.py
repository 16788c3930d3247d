"""Work on ranges of workers by threads of one core each: small operations gain nothing from being spread singly.

Threads inside single operations (torch's and those of BLAS) wait for each other by spinning. On a machine that is also
busy with something else, that made a step up to ten times as long, so a step does without them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from kappaguard.rules.native import thread_count

T = TypeVar("T")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool per process: threads do not survive a fork."""
    import torch

    del process
    return ThreadPoolExecutor(thread_count(), "kappaguard-training", initializer=lambda: torch.set_num_threads(1))


def over_ranges(count: int, work: Callable[[int, int], T], device: str) -> list[T]:
    """The results of work(begin, end) over ranges that together cover 0 .. count; one range unless on a CPU."""
    parts = min(thread_count(), count) if device == "cpu" else 1
    if parts <= 1:
        return [work(0, count)]
    bounds = [count * part // parts for part in range(parts + 1)]
    return list(_pool(os.getpid()).map(work, bounds[:-1], bounds[1:]))


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
