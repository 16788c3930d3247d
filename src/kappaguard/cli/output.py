"""How commands print tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
