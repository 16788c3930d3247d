"""The pictures of a dossier: kappa* over f/n, growth with d, training under attack, and cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    MARKERS,
    Picture,
    csv_text,
    figure_with_axes,
    finite,
    legend,
    svg_text,
)

Data = Mapping[str, Any]


def drawings(data: Mapping[str, Data], command: str) -> dict[str, Picture]:
    """The pictures of the sections that have numbers to draw, by section."""
    found = {name: draw(data[name], command) for name, draw in DRAWN.items() if name in data}
    return {name: picture for name, picture in found.items() if picture is not None}


def _grid(data: Data, command: str) -> Picture | None:
    rows = [row for row in data["rows"] if isinstance(row.get("lower"), int | float)]
    if len(rows) < 2:
        return None
    figure, (axes,) = figure_with_axes(height=3.6)
    for index, n in enumerate(sorted({row["n"] for row in rows})):
        here = [row for row in rows if row["n"] == n]
        mark = {"color": COLOURS[index], "marker": MARKERS[index], "markersize": 5, "linewidth": 1}
        axes.plot([row["f"] / n for row in here], [row["lower"] for row in here], label=f"n = {n}", **mark)
    shares = sorted((row["f"] / row["n"], row["least"]) for row in rows)
    axes.plot(*zip(*shares, strict=True), color=INK, alpha=0.35, linewidth=3, label="f/(n-2f)")
    axes.set(xlabel="f/n", ylabel="kappa* found", yscale="log")
    legend(axes)
    seen = "Lower bounds, each with its witness; thick: f/(n-2f), which no rule beats. Infinite ones are left out."
    table = [["n", "f", "lower"], *([row["n"], row["f"], row["lower"]] for row in rows)]
    return Picture("grid", "kappa* over n and f", seen, svg_text(figure), csv_text(table), command)


def _dimension(data: Data, command: str) -> Picture | None:
    rows = [row for row in data["rows"] if isinstance(row.get("lower"), int | float)]
    if len(rows) < 2:
        return None
    figure, (axes,) = figure_with_axes(height=3.0)
    axes.plot([row["d"] for row in rows], [row["lower"] for row in rows], color=COLOURS[0], marker="o", markersize=5)
    axes.set(xlabel="d", ylabel="kappa* found", xscale="log")
    axes.set_ylim(bottom=0)
    seen = "The largest ratio found among inputs of d dimensions. Less at a larger d says that less was found there."
    table = [["d", "lower"], *([row["d"], row["lower"]] for row in rows)]
    return Picture("dimension", "Growth with d", seen, svg_text(figure), csv_text(table), command)


def _training(data: Data, command: str) -> Picture | None:
    rows = data["rows"]
    if not rows:
        return None
    figure, (axes,) = figure_with_axes(height=3.2)
    for shift, (who, name) in enumerate((("rule", "this rule"), ("beside", data["beside"]))):
        heights = [100 * (row[who]["accuracy"] or 0.0) for row in rows]
        places = [place + 0.38 * shift for place in range(len(rows))]
        axes.bar(places, heights, width=0.36, color=COLOURS[shift], label=name)
    axes.set_xticks([place + 0.19 for place in range(len(rows))], [row["attack"] for row in rows])
    axes.set(ylabel="test accuracy, %", ylim=(0, 105))
    legend(axes, loc="upper right")
    seen = f"Test accuracy after {data['steps']} steps under each attack; no bar where a run did not finish."
    table = [["attack", "rule", "beside"]]
    table += [[row["attack"], row["rule"]["accuracy"], row["beside"]["accuracy"]] for row in rows]
    return Picture("training", "Under attack in training", seen, svg_text(figure), csv_text(table), command)


def _cost(data: Data, command: str) -> Picture | None:
    lines: list[tuple[str, Sequence[Data]]] = [("n", data["over_n"]), ("d", data["over_d"])]
    if any(len(rows) < 2 for _, rows in lines):
        return None
    figure, places = figure_with_axes(2, height=3.0)
    table: list[Sequence[Any]] = [("over", "size", "seconds")]
    for axes, (letter, rows) in zip(places, lines, strict=True):
        axes.plot([row[letter] for row in rows], [finite(row["seconds"]) for row in rows], color=COLOURS[0], marker="o")
        axes.set(xlabel=letter, ylabel="seconds of one call", xscale="log", yscale="log")
        table += [(letter, row[letter], row["seconds"]) for row in rows]
    seen = "The smallest of several timings; both axes are logarithmic, so that a power is a line."
    return Picture("cost", "Cost", seen, svg_text(figure), csv_text(table), command)


DRAWN: dict[str, Callable[[Data, str], Picture | None]] = {
    "grid": _grid,
    "dimension": _dimension,
    "training": _training,
    "cost": _cost,
}
