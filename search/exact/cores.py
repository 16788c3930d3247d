"""Work of the engine on all cores: a function on many items, in the order of the items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import parent_process
from typing import TypeVar

from kappaguard.search.engines import Died, distribute

Item = TypeVar("Item")
Result = TypeVar("Result")


def over_cores(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results one by one; a process that is one of several already does everything itself."""
    if len(items) < 2 or parent_process() is not None:
        yield from map(function, items)
        return
    found: dict[int, Result] = {}
    place = 0
    for index, result in distribute(function, items):
        found[index] = function(items[index]) if isinstance(result, Died) else result
        while place in found:
            yield found.pop(place)
            place += 1
