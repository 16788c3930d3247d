"""Progress bars on the terminal, with the time left; nothing when nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kappaguard.verify.lower import Progress

Report = Callable[[int, int], None]
"""Told how many of how many are done."""


@contextmanager
def counting(words: str) -> Iterator[Report]:
    """One bar."""
    with _bars() as bars:
        task = bars.add_task(words, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextmanager
def bracketing() -> Iterator[Callable[[float, float, int], None]]:
    """A bar without an end that shows the bracket so far."""
    with _bars(count=False) as bars:
        task = bars.add_task("starting", total=None)

        def report(lower: float, upper: float, done: int) -> None:
            bars.update(task, description=f"kappa* in [{lower:.6g}, {upper:.6g}], {done:,} nodes")

        yield report


@contextmanager
def searching(budget: float) -> Iterator[Callable[[Progress], None]]:
    """One bar over the seconds of a search, with the best ratio so far."""
    with _bars(count=False) as bars:
        task = bars.add_task("starting", total=budget)

        def report(seen: Progress) -> None:
            words = f"best {seen.best:.6g}, {seen.evaluations:,} evaluations, {seen.adversary}"
            bars.update(task, completed=min(seen.seconds, budget), description=words)

        yield report


class Nested:
    """A bar over pieces of work and one over the steps of the piece at hand."""

    def __init__(self, bars: Any, words: str, total: int) -> None:
        self.bars = bars
        self.all = bars.add_task(words, total=total)
        self.one = bars.add_task("", total=None)

    def begin(self, name: str) -> Report:
        """A piece begins; what is to be told of its steps. The name is ours, and holds no markup."""
        self.bars.reset(self.one, total=None, description=name)
        return lambda done, total: self.bars.update(self.one, completed=done, total=total)

    def done(self) -> None:
        """A piece is finished."""
        self.bars.advance(self.all)


@contextmanager
def nested(words: str, total: int) -> Iterator[Nested]:
    """Two bars."""
    with _bars() as bars:
        yield Nested(bars, words, total)


def _bars(*, count: bool = True) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    text = TextColumn("{task.description}")
    columns = (MofNCompleteColumn(), TimeRemainingColumn()) if count else (TimeElapsedColumn(),)
    return Progress(text, BarColumn(), *columns, console=console, transient=True, disable=not console.is_terminal)
