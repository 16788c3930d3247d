"""A run for people: accuracy, loss and ratio of its steps as a table and as a picture, from its log."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from kappaguard.training.testing import model_step

COLUMNS = ("accuracy", "test_loss", "batch_loss", "ratio")
WIDTH, HEIGHT, LEFT, TOP = 640, 150, 70, 34
"""Of a panel, and of the room beside and above it."""
COLOURS = {"accuracy": "#0072b2", "test_loss": "#d55e00", "batch_loss": "#56b4e9", "ratio": "#009e73"}
PANELS = (
    ("test accuracy (%)", ("accuracy",), False),
    ("loss", ("batch_loss", "test_loss"), True),
    ("error² / variance of the messages", ("ratio",), True),
)
NAMES = {"batch_loss": "of the batches", "test_loss": "on the test data"}

Rows = Sequence[dict[str, Any]]
Points = list[tuple[int, float]]


def as_table(rows: Rows) -> str:
    """A line per step with what is known of it, as CSV; what was not measured is empty."""
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        known = {name: row[name] for name in COLUMNS if row.get(name) is not None}
        if known:
            found.setdefault(model_step(row), {}).update(known)
    room = io.StringIO()
    writer = csv.writer(room, lineterminator="\n")
    writer.writerow(("step", *COLUMNS))
    writer.writerows((step, *(known.get(name, "") for name in COLUMNS)) for step, known in sorted(found.items()))
    return room.getvalue()


def drawn(rows: Rows, title: str) -> str:
    """An SVG with a panel for each quantity that the log has; losses and ratios on a logarithmic scale."""
    series = {name: _points(rows, name) for name in COLUMNS}
    panels = [each for each in PANELS if any(series[name] for name in each[1])]
    last = max((step for points in series.values() for step, _ in points), default=1)
    height = TOP + (HEIGHT + TOP) * len(panels) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}" '
        f'font-family="sans-serif" font-size="11" role="img" aria-label="{escape(title)}">',
        f'<rect width="{LEFT + WIDTH + 20}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>',
    ]
    for place, (words, names, logarithmic) in enumerate(panels):
        top = 2 * TOP + (HEIGHT + TOP) * place
        parts += _panel(words, {name: series[name] for name in names}, logarithmic, top, max(1, last))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _points(rows: Rows, name: str) -> Points:
    factor = 100.0 if name == "accuracy" else 1.0
    found = [(model_step(row), row[name]) for row in rows if row.get(name) is not None]
    return sorted((step, factor * value) for step, value in found if math.isfinite(value))


def _panel(words: str, series: dict[str, Points], logarithmic: bool, top: float, last: int) -> list[str]:
    """Frame, ends of the scales, and a line for each series."""
    shown = {
        name: [
            (step, math.log10(value) if logarithmic else value)
            for step, value in points
            if value > 0 or not logarithmic
        ]
        for name, points in series.items()
    }
    values = [value for points in shown.values() for _, value in points] or [0.0]
    low, high = (min(values), max(values)) if logarithmic else (min(0.0, *values), max(100.0, *values))
    span = high - low or 1.0

    def label(value: float) -> str:
        return f"{10**value:.3g}" if logarithmic else f"{value:.3g}"

    parts = [
        f'<text x="{LEFT}" y="{top - 6}">{escape(words)}</text>',
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
        f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{label(high)}</text>',
        f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">{label(low)}</text>',
        f'<text x="{LEFT}" y="{top + HEIGHT + 14}">0</text>',
        f'<text x="{LEFT + WIDTH}" y="{top + HEIGHT + 14}" text-anchor="end">step {last}</text>',
    ]
    several = [name for name, points in shown.items() if points]
    for number, name in enumerate(several):
        line = " ".join(
            f"{LEFT + WIDTH * step / last:.1f},{top + HEIGHT * (high - value) / span:.1f}"
            for step, value in shown[name]
        )
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="1.2"/>')
        if len(several) > 1:
            at = LEFT + WIDTH - 110 * (len(several) - number)
            parts.append(f'<text x="{at}" y="{top - 6}" fill="{COLOURS[name]}">{NAMES[name]}</text>')
    return parts
