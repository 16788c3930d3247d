"""Where many independent pieces of work run: here, on a Dask cluster, or on a Ray cluster. One file each.

An engine is a generator: it takes a function and items, and yields (position of the item, result) as they finish, in
any order. Function and items must be picklable; results do not depend on the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from kappaguard.rules.base.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

ENGINES = ("local", "dask", "ray")


def distribute(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    engine: str = "local",
    address: str | None = None,
    jobs: int | None = None,
) -> Iterator[tuple[int, Result | Died]]:
    """Apply a function to all items on an engine; ``jobs`` processes for the local one, ``address`` for a cluster.

    An item whose process dies gives ``Died()`` (on a cluster, when that is tired of trying again: an error).
    """
    runner = _runner(engine)
    if engine == "local" and address is not None:
        raise InputError("the local engine has no address; add --engine dask or --engine ray")
    return runner(function, items, address, jobs)


def _runner(engine: str) -> Callable[..., Iterator[tuple[int, Any]]]:
    if engine == "local":
        from kappaguard.search.engines.local import run
    elif engine == "dask":
        from kappaguard.search.engines.dask import run
    elif engine == "ray":
        from kappaguard.search.engines.ray import run
    else:
        raise InputError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
    return run


@dataclass(frozen=True)
class Died:
    """Instead of a result: the process that worked on the item ended, by a crash or for want of memory."""


def placed(function: Callable[[Any], Any], place: int, item: Any) -> tuple[int, Any]:
    """The result with the position of its item."""
    return place, function(item)
