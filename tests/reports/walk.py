"""A report as its reader meets it: tables, figures and findings of the page, and tables of report.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

NUMBER = re.compile(r"^[<>=≤≥ ]*-?\d[\d.,e+-]*$")


@dataclass
class Piece:
    """A cell, row, figure or item: its text, its links and its commands."""

    tag: str
    names: dict[str, str]
    text: str = ""
    links: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    inside: list[Piece] = field(default_factory=list)

    @property
    def numbers(self) -> list[Piece]:
        """The cells in it that hold a number."""
        return [cell for cell in self.inside if cell.tag == "td" and NUMBER.match(cell.text.strip())]


class Walk(HTMLParser):
    """Collects rows, figures, list items and sections, and all ids."""

    KEPT = ("td", "tr", "figure", "li", "section", "code")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pieces: list[Piece] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self._open: list[Piece] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {key: value or "" for key, value in attrs}
        self.ids |= {names["id"]} if "id" in names else set()
        link = names.get("href") or names.get("xlink:href")
        if tag == "a" and link:
            self.links.append(link)
            for piece in self._open:
                piece.links.append(link)
        if tag in self.KEPT:
            self._open.append(Piece(tag, names))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.KEPT:
            return
        piece = self._open.pop()
        assert piece.tag == tag
        self.pieces.append(piece)
        for outer in self._open:
            outer.inside.append(piece)
            if tag == "code" and piece.text.startswith("kappaguard "):
                outer.commands.append(piece.text)

    def handle_data(self, data: str) -> None:
        for piece in self._open:
            piece.text += data

    def all(self, tag: str) -> list[Piece]:
        """Every piece of a kind."""
        return [piece for piece in self.pieces if piece.tag == tag]


def markdown_rows(text: str) -> list[tuple[str, list[str]]]:
    """Every row of a table with the paragraph before its table."""
    found, before, lines = [], "", text.splitlines()
    for index, line in enumerate(lines):
        if not line.startswith("| "):
            before = line or before
        elif index >= 2 and lines[index - 1].startswith("| "):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not all(set(cell) <= {"-"} for cell in cells):
                found.append((before, cells))
    return found
