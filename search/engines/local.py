"""Processes on this machine (joblib's loky), one core each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kappaguard.search.engines import placed


def run(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """As many processes as ``jobs``, or as there are cores."""
    from joblib import Parallel, delayed, parallel_config

    del address
    with parallel_config(backend="loky", n_jobs=jobs or -1, inner_max_num_threads=1):
        parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        yield from parallel(delayed(placed)(function, place, item) for place, item in enumerate(items))
