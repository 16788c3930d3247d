"""A report that ends a run from within, as a signal would."""

from __future__ import annotations

from collections.abc import Callable


def stop_after(steps: int, how: type[BaseException] = KeyboardInterrupt) -> Callable[[int, int], None]:
    """To be told of the progress of a run: raises once so many steps are done."""

    def report(done: int, total: int) -> None:
        if done == steps:
            raise how

    return report
