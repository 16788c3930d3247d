"""How a search gets to its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    Picture,
    csv_text,
    figure_with_axes,
    label,
    legend,
    svg_text,
)

STYLES = ("-", "--", "-.", ":")


def traces(searches: Sequence[Mapping[str, Any]]) -> Picture | None:
    """Best ratio against evaluations, one line per search."""
    if not searches:
        return None
    figure, (axes,) = figure_with_axes(height=3.4)
    rows: list[Sequence[Any]] = [("rule", "n", "f", "adversary", "evaluations", "seconds", "ratio", "command")]
    for index, each in enumerate(searches):
        points = each["trace"]
        x = [max(1, point[1]) for point in points] + [each["evaluations"]]
        y = [point[3] / each["reference"] for point in points] + [points[-1][3] / each["reference"]]
        style = {"color": COLOURS[index % len(COLOURS)], "linestyle": STYLES[index % len(STYLES)]}
        axes.step(x, y, where="post", label=label(f"{each['rule']}, n = {each['n']}, f = {each['f']}"), **style)
        rows += [[each["rule"], each["n"], each["f"], *point[:4], each["command"]] for point in points]
    axes.axhline(1, color=INK, alpha=0.4, linewidth=1)
    axes.set(xlabel="evaluations of the rule", ylabel="ratio / upper bound", xscale="log", ylim=(0, 1.05))
    legend(axes)
    ends = ", ".join(f"{each['rule']} {each['trace'][-1][3] / each['reference']:.3f}" for each in searches)
    caption = (
        "The best ratio that the search had found after so many evaluations, as a part of the certified upper bound; "
        f"in the end: {ends}. What to see: how soon worst inputs are found by looking. Below 1, more evaluations may "
        "find more, or the bound is not attained: behind nnm the two bounds on kappa* do not meet."
    )
    command = "\n".join(each["command"] for each in searches)
    return Picture("traces", "How the search gets there", caption, svg_text(figure), csv_text(rows), command)
