"""A Ray cluster. Ray's own tasks, because its joblib back end cannot return results as they finish."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.search.engines import placed


def run(
    function: Callable[[Any], Any], items: Sequence[Any], address: str | None, jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """On the cluster at ``address``; without one, with ``jobs`` processes on this machine."""
    try:
        import ray
    except ImportError:
        raise InputError("the ray engine needs Ray: pip install 'kappaguard[ray]'") from None
    try:
        ray.init(
            address=address,
            num_cpus=None if address else jobs,
            include_dashboard=False if address is None else None,
            log_to_driver=False,
            configure_logging=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputError(f"no Ray cluster answers at {address}: {str(error).splitlines()[0]}") from None
    try:
        task = ray.remote(max_retries=3)(placed)
        waiting = [task.remote(function, place, item) for place, item in enumerate(items)]
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield from ray.get(done)
    finally:
        ray.shutdown()
