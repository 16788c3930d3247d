"""Processes on this machine (joblib's loky), one core each."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from kappaguard.search.engines import Died, placed

IDLE = 86_400
"""Seconds that helpers wait for more. With the 300 of loky they leave a pool that is kept, which may hang then."""


def run(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """As many processes as ``jobs``, or as there are cores.

    A process that dies takes the whole pool with it. Then what is left is done one by one, each in a new process, so
    that it shows which item it was.
    """
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    del address
    left = dict(enumerate(items))
    try:
        for place, result in _pool(function, left, jobs or -1):
            del left[place]
            yield place, result
    except TerminatedWorkerError:
        for place, item in left.items():
            try:
                yield from _pool(function, {place: item}, 2)
            except TerminatedWorkerError:
                yield place, Died()


def _pool(function: Callable[[Any], Any], items: Mapping[int, Any], jobs: int) -> Iterator[tuple[int, Any]]:
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1, idle_worker_timeout=IDLE):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        tasks = (delayed(_placed)(os.getpid(), function, place, item) for place, item in list(items.items()))
        results = parallel(tasks)
        try:
            # not "yield from", which would close the results itself, before the warnings are caught
            for result in results:  # noqa: UP028
                yield result
        finally:
            with warnings.catch_warnings():
                # joblib warns of tasks that it ends, which is what closing it means
                warnings.simplefilter("ignore")
                results.close()


def _placed(parent: int, function: Callable[[Any], Any], place: int, item: Any) -> tuple[int, Any]:
    _watch(parent)
    return placed(function, place, item)


@cache
def _watch(parent: int) -> None:
    """End this process when the one that started it is gone: one that is killed cannot tell its helpers to stop."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if os.getppid() == parent:
        threading.Thread(target=look, name="kappaguard-parent", daemon=True).start()
