"""Text that Markdown shows as it is."""

from __future__ import annotations

from kappaguard.rules.base.text import printable


def escaped(text: object) -> str:
    """One line, with every character that Markdown or HTML would read otherwise made harmless."""
    marked = (f"\\{character}" if character in "\\`*_[]<>#|$~!&" else character for character in str(text))
    return " ".join(printable("".join(marked)).split())


def code(text: object) -> str:
    """One line of code, also in a table; a backtick, which would end it, becomes an apostrophe."""
    return "`" + " ".join(printable(str(text)).split()).replace("`", "'").replace("|", "\\|") + "`"


def table(headings: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table; the cells are escaped already."""
    return ["| " + " | ".join(cells) + " |" for cells in (headings, ["---"] * len(headings), *rows)]
