"""How commands print tables, bounds and results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from kappaguard.verify.judge.result import KappaResult

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


def show_trace(trace: str) -> None:
    """The traceback of the user's own code, on standard error, its control characters made visible."""
    import typer

    from kappaguard.rules.base.text import printable

    for line in trace.rstrip().splitlines():
        typer.echo(printable(line), err=True)


def outward(value: Fraction | float, *, up: bool) -> str:
    """Ten digits, rounded so that the printed bound still holds."""
    import decimal

    if isinstance(value, float):
        return f"{value:g}"
    rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    context = decimal.Context(prec=10, rounding=rounding)
    return f"{context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator)).normalize():f}"


def as_json(result: KappaResult, witness: Path | None, **more: Any) -> str:
    """One JSON object: what every command tells of a result, and what only one of them does."""
    import json

    from kappaguard import __version__
    from kappaguard.verify.guard.verdict import number

    common = {
        "rule": result.rule,
        "n": result.n,
        "f": result.f,
        "lower": number(result.lower),
        "upper": number(result.upper),
        "witness": None if witness is None else str(witness),
        "seconds": result.stats.seconds,
        "evaluations": result.stats.evaluations,
        "seed": result.stats.seed,
        "version": __version__,
    }
    return json.dumps(common | more, indent=2)
