"""What all pictures share: a figure with text in the colour of the page, made an SVG text, and its data as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
"""Okabe and Ito's, without black and yellow."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
NARROW = 5.4
"""Inches: at the width of a phone letters of 9 points are still more than 8 pixels high."""
WIDE = 7.2
INK = "#010203"
"""Replaced by the colour of the page's text."""


@dataclass(frozen=True)
class Picture:
    """A picture with its caption, its data as CSV, and the commands, one per line, that make the data."""

    name: str
    title: str
    caption: str
    svg: str
    csv: str
    command: str


def figure_with_axes(parts: int = 1, height: float | None = None, width: float | None = None) -> tuple[Any, list[Any]]:
    """A figure with one picture, or with several in two columns."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "kappaguard"
    rows, columns = (1, 1) if parts == 1 else (math.ceil(parts / 2), 2)
    # one picture is narrow enough to be read on a phone; style.css lets those that are 7.2 inches wide scroll there
    narrow, usual = (NARROW, 3.6) if parts == 1 else (WIDE, 2.6 * rows)
    figure = Figure(figsize=(width or narrow, height or usual), layout="constrained")
    figure.patch.set_alpha(0)
    grid = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for spare in grid[parts:]:
        spare.set_visible(False)
    for axes in grid:
        inked(axes)
    return figure, grid[:parts]


def inked(axes: Any) -> None:
    """Axes in the colour of the text, without what does not carry information."""
    axes.patch.set_alpha(0)
    axes.tick_params(colors=INK, which="both", width=0.6)
    for side, spine in axes.spines.items():
        spine.set_color(INK)
        spine.set_alpha(0.4)
        spine.set_visible(side in ("left", "bottom", "outline"))
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(INK)


def legend(axes: Any, **more: Any) -> None:
    """A legend in the colour of the text, without a box."""
    axes.legend(fontsize=9, frameon=False, labelcolor=INK, **more)


def svg_text(figure: Any) -> str:
    """The figure as an SVG element that scales with the page and takes its colour and its font."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for attribute in ("height", "width"):
        text = re.sub(rf'(<svg[^>]*?) {attribute}="[^"]*"', r"\1", text, count=1)
    return text


def label(text: str) -> str:
    """Text that is no formula, and that a legend does not leave out."""
    return " " + text.replace("$", r"\$")


def finite(value: object) -> float:
    """The number, or NaN for what is infinite or unknown."""
    return float(value) if isinstance(value, int | float) else math.nan


def csv_text(rows: Sequence[Sequence[Any]]) -> str:
    """The rows as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
