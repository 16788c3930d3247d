"""One large matrix shared out to threads by ranges of its columns."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

ENTRIES_PER_THREAD = 1 << 18
"""Handing work to a thread costs about as much as this many entries."""
RANGES_PER_THREAD = 3
"""Into so many ranges per thread the columns are cut, for those who begin early to take more of them."""
MOST_DIGITS = 4
"""A number of threads with more digits is a mistake."""


@cache
def thread_count() -> int:
    """How many threads share one call: as asked for, else one per core, or fewer if OpenMP is to have fewer.

    The latter is how joblib, Dask, Ray and torchrun tell their processes that each of them has one core.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name, most in (("KAPPAGUARD_THREADS", None), ("OMP_NUM_THREADS", cores)):
        wish = os.environ.get(name, "")
        if wish.isdecimal() and len(wish) <= MOST_DIGITS and int(wish) > 0:
            return int(wish) if most is None else min(int(wish), most)
    return cores


def threads_for(x: NDArray[Any]) -> int:
    """How many threads are worth their while for a matrix."""
    return max(1, min(thread_count(), x.size // ENTRIES_PER_THREAD))


Task = tuple[int, tuple[int, int]]
"""The place of a result, and the columns it comes from."""


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool per process: threads do not survive a fork."""
    del process
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="kappaguard")


def over_columns(x: NDArray[Any], work: Callable[[int, int], Any]) -> list[Any]:
    """The results of work(begin, end) over column ranges that together cover x, from left to right.

    The ranges depend on the shape and the number of threads only, so that sums over them are the same every time.
    """
    threads = threads_for(x)
    if threads == 1:
        return [work(0, x.shape[1])]
    parts = max(1, min(RANGES_PER_THREAD * threads, x.shape[1]))
    bounds = [x.shape[1] * part // parts for part in range(parts + 1)]
    return _share(list(pairwise(bounds)), work, threads - 1)


def _share(ranges: list[tuple[int, int]], work: Callable[[int, int], Any], helpers: int) -> list[Any]:
    """The results of work over the ranges, which this thread and helpers from the pool take one by one.

    A helper takes long to wake up; this thread does not wait for one that has not begun when nothing is left to take.
    It always waits for those that have, and so nobody reads or writes the arrays any more when it returns or raises.
    """
    left = deque(enumerate(ranges))
    results: list[Any] = [None] * len(ranges)

    def take() -> None:
        try:
            while (task := _next(left)) is not None:
                place, ends = task
                results[place] = work(*ends)
        except BaseException:
            left.clear()
            raise

    asked: list[Future[None]] = []
    try:
        for _ in range(helpers):
            asked.append(_pool(os.getpid()).submit(take))
        take()
    finally:
        errors = [helper.exception() for helper in asked if not helper.cancel()]
    for error in filter(None, errors):
        raise error
    return results


def _next(tasks: deque[Task]) -> Task | None:
    """The first of the tasks, taken out; None if there is none left.

    A deque promises that its pops are atomic: however many threads ask, each task goes to one of them. To look first
    whether one is left would promise nothing, since another thread may take it in between.
    """
    try:
        return tasks.popleft()
    except IndexError:
        return None
