"""How commands print tables, bounds and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

WIDTH_OF_A_PIPE = 200


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on standard output, as wide as the terminal, or wide enough to be searched when there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console.width = WIDTH_OF_A_PIPE
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        # A name such as bucketing[s] must not be read as markup.
        table.add_row(*map(Text, row))
    console.print(table)


def outward(value: Fraction | float, *, up: bool) -> str:
    """Ten digits, rounded so that the printed bound still holds."""
    import decimal

    if isinstance(value, float):
        return f"{value:g}"
    rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    context = decimal.Context(prec=10, rounding=rounding)
    return f"{context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)).normalize():f}"


@contextmanager
def counting(words: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on the terminal, told (done, total), with the time left; nothing when nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(words, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
