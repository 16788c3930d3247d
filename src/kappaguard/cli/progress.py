"""Progress bars on the terminal, with the time left; elsewhere a line now and then of what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kappaguard.search.run import Progress

Report = Callable[[int, int], None]
"""Told how many of how many are done."""

_SILENT = {"now": False}


def silence(wanted: bool) -> None:
    """Show no progress from now on, or show it again."""
    _SILENT["now"] = wanted


def is_silent() -> bool:
    """Whether no progress is to be shown."""
    return _SILENT["now"]


@contextmanager
def counting(words: str) -> Iterator[Report]:
    """A bar that counts what is finished."""
    with _bars() as bars:
        task = bars.add_task(words, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


EVERY = 30.0
"""Seconds between lines, and before the first one."""


class Lines:
    """How far something is, as lines on stderr where no terminal shows a bar: in a log of a batch job, say."""

    def __init__(self, words: str) -> None:
        self.words, self.begin = words, time.monotonic()
        self.last = self.begin
        self.quiet = is_silent() or sys.stderr.isatty()

    def tell(self, done: int, total: int, more: str = "") -> None:
        """A line, if the last one was long ago."""
        now = time.monotonic()
        if self.quiet or now - self.last < EVERY:
            return
        self.last = now
        print(f"{self.words} {done} of {total}, {now - self.begin:.0f} s{more}", file=sys.stderr, flush=True)


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
        self.lines, self.finished, self.total = Lines(words), 0, total

    def begin(self, name: str) -> Report:
        """A piece begins; what is to be told of its steps. The name is ours, and holds no markup."""
        self.bars.reset(self.one, total=None, description=name)

        def report(done: int, total: int) -> None:
            self.bars.update(self.one, completed=done, total=total)
            self.lines.tell(self.finished, self.total, f", {name}: step {done} of {total}")

        return report

    def done(self) -> None:
        """A piece is finished."""
        self.bars.advance(self.all)
        self.finished += 1
        self.lines.tell(self.finished, self.total)


@contextmanager
def nested(words: str, total: int) -> Iterator[Nested]:
    """A bar over all pieces, and one for the piece at work."""
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
    return Progress(
        text, BarColumn(), *columns, console=console, transient=True, disable=is_silent() or not console.is_terminal
    )
