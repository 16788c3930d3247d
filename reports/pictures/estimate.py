"""Distributions of ratios: what happens to each rule, with marks for what can."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    Picture,
    csv_text,
    figure_with_axes,
    finite,
    label,
    legend,
    svg_text,
)

ROW = 0.34
"""Inches of a rule."""
DECADES = 8.0
"""Beyond so many the axis is cut: an infinite kappa* has ratios of any size."""


def distributions(data: Mapping[str, Any]) -> Picture:
    """One row per rule: the distribution of its ratio under each attack, on a logarithmic scale."""
    entries = data["estimates"]
    rules = list(dict.fromkeys(each["rule"] for each in entries))
    attacks = list(dict.fromkeys(each["attack"] for each in entries))
    figure, (axes,) = figure_with_axes(height=1.5 + ROW * len(rules))
    low, high = _range(entries)
    rows: list[Sequence[Any]] = [
        ("rule", "attack", "from", "to", "count", "lower", "upper", "coefficient", "least_possible")
    ]
    for place, rule in enumerate(rules):
        own = [each for each in entries if each["rule"] == rule]
        for each in own:
            colour = COLOURS[attacks.index(each["attack"]) % len(COLOURS)]
            rows += _drawn(axes, each, place, colour, low, high)
        _marks(axes, own[0], place, low, high)
    least = entries[0]["least_possible"]
    axes.axvline(least, color=INK, linewidth=3, alpha=0.25)
    axes.annotate("f/(n-2f)", (least, len(rules) - 0.5), (3, 2), textcoords="offset points", color=INK, fontsize=8)
    axes.set(xscale="log", xlim=(low, high), ylim=(-0.6, len(rules) - 0.2))
    axes.set_xlabel(
        "squared error / variance" if data["criterion"] == "trace" else f"squared error / {data['criterion']}"
    )
    axes.set_yticks(range(len(rules)), [label(rule) for rule in rules])
    axes.invert_yaxis()
    for index, attack in enumerate(attacks):
        axes.plot([], [], color=COLOURS[index % len(COLOURS)], linewidth=5, alpha=0.6, label=label(attack))
    axes.plot([], [], color=INK, linewidth=2, label=label("kappa*"))
    axes.plot([], [], color=INK, linewidth=1.4, linestyle=":", label=label("the paper's coefficient"))
    legend(axes, ncols=4, loc="upper center", bbox_to_anchor=(0.45, -0.9 / (1.5 + ROW * len(rules))))
    caption = (
        f"The ratio on {data['source']}, n = {data['n']}, f = {data['f']}, {entries[0]['inputs']:,} rounds for each "
        "attack. Each hill is the distribution under one attack. Upright marks: kappa*, as a bar between its bounds "
        "where they differ, and an arrow where only a lower bound is known or the mark lies beyond the picture. "
        "Dotted: the paper's coefficient. Grey: f/(n-2f), which no rule beats. What to see: how far real inputs stay "
        "from the worst one."
    )
    title = f"What happens on {data['source']}"
    return Picture("estimate", title, caption, svg_text(figure), csv_text(rows), data["command"])


def _range(entries: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    seen = [edge for each in entries for edge in each["histogram"]["edges"]]
    known = [
        value
        for each in entries
        for key in ("lower", "upper", "coefficient")
        if math.isfinite(value := finite(each[key]))
    ]
    inside = [value for value in (*seen, *known, entries[0]["least_possible"]) if value > 0]
    # what an infinite kappa* lets happen has no place in a picture of the others
    top = max([value for value in (*known, entries[0]["least_possible"]) if value > 0], default=1.0)
    high = min(max(inside), 10 * top)
    low = max(min(inside), high / 10**DECADES)
    return low / 1.3, high * 1.3


def _drawn(axes: Any, entry: Mapping[str, Any], place: int, colour: str, low: float, high: float) -> list[list[Any]]:
    edges, counts = entry["histogram"]["edges"], entry["histogram"]["counts"]
    marks = [entry[key] for key in ("lower", "upper", "coefficient", "least_possible")]
    rows: list[list[Any]] = []
    most = max(counts, default=0)
    x: list[float] = []
    y: list[float] = []
    for first, last, count in zip(edges[:-1], edges[1:], counts, strict=True):
        rows.append([entry["rule"], entry["attack"], first, last, count, *marks])
        x += [first, last]
        y += [place + 0.3 - 0.75 * count / most] * 2
    if x:
        axes.fill_between(x, [place + 0.3] * len(x), y, color=colour, alpha=0.45, linewidth=0)
        axes.plot(x, y, color=colour, linewidth=0.7)
    if x and x[0] > high:
        axes.annotate("▸", (high, place), color=colour, ha="right", va="center", fontsize=9)
    if x and x[-1] < low:
        axes.annotate("◂", (low, place), color=colour, ha="left", va="center", fontsize=9)
    return rows


def _marks(axes: Any, entry: Mapping[str, Any], place: int, low: float, high: float) -> None:
    lower, upper, claimed = (finite(entry[key]) for key in ("lower", "upper", "coefficient"))
    top, bottom = place - 0.4, place + 0.35
    for value in {lower, upper}:
        if low <= value <= high:
            axes.plot([value, value], [top, bottom], color=INK, linewidth=2)
    if low <= lower < upper <= high:
        axes.plot([lower, upper], [place, place], color=INK, linewidth=1)
    open_above = (low <= lower <= high and entry["upper"] is None) or entry["lower"] == "inf" or lower > high
    if open_above:
        start = lower if low <= lower <= high else high / 1.25
        axes.annotate("", (start * 1.25, place), (start, place), arrowprops={"arrowstyle": "->", "color": INK})
    if low <= claimed <= high:
        axes.plot([claimed, claimed], [top, bottom], color=INK, linewidth=1.4, linestyle=":")


def standalone(data: Mapping[str, Any]) -> str:
    """The picture as an SVG file of its own, on white."""
    return on_white(distributions(data).svg)


def on_white(svg: str) -> str:
    """An SVG element of a page as a file."""
    head, rest = svg.split(">", 1)
    if "xmlns=" not in head:
        head += ' xmlns="http://www.w3.org/2000/svg"'
    return f'{head} color="#1a1a1a" style="background: white; font-family: sans-serif">{rest}\n'
