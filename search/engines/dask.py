"""A Dask cluster, through joblib: work of a worker that dies is done again by another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.search.engines import placed


def run(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """On the scheduler at ``address``; without one, on a cluster of ``jobs`` processes on this machine."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError("the dask engine needs Dask: pip install 'kappaguard[dask]'") from None
    from joblib import Parallel, delayed, parallel_config

    cluster = (
        None if address else distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
    )
    try:
        client = distributed.Client(address or cluster)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        with parallel_config(backend="dask"):
            parallel = Parallel(return_as="generator_unordered", batch_size=1)
            yield from parallel(delayed(placed)(function, place, item) for place, item in enumerate(items))
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
