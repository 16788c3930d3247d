"""The trade-offs of the atlas in pictures: kappa* against the error without attack, and against the cost of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    WIDE,
    Picture,
    csv_text,
    figure_with_axes,
    label,
    legend,
    svg_text,
)

SHOWN = ("rule", "n", "f", "status", "lower", "upper", "error", "cost", "witness")
MARKS = {"": "o", "nnm": "^", "bucketing(s=2)": "s"}
LEAST_ERROR = 1e-4
"""Less is drawn there: the average has none."""


def against_error(entries: Sequence[Mapping[str, Any]], command: str) -> Picture | None:
    """kappa* against the mean ratio on Gaussian vectors without Byzantine ones."""
    words = (
        "Each mark is a rule: what it costs when nobody attacks against what it loses in the worst case. Down and left "
        "is better. "
    )
    axis = "mean ratio on Gaussian vectors, no attack"
    return _picture(entries, command, "error", "atlas-error", "kappa* against the error without attack", axis, words)


def against_cost(entries: Sequence[Mapping[str, Any]], command: str) -> Picture | None:
    """kappa* against the time of one call in units of the average's."""
    words = "Each mark is a rule: the time of one call, in calls of average on the same input, against its worst case. "
    axis = "one call, in calls of average (d = 50,000)"
    return _picture(entries, command, "cost", "atlas-cost", "kappa* against time", axis, words)


def _picture(
    entries: Sequence[Mapping[str, Any]], command: str, key: str, name: str, title: str, axis: str, words: str
) -> Picture | None:
    """At the largest (n, f) where something is finite; rules without a finite kappa* are named below."""
    drawable = [each for each in entries if isinstance(each.get("lower"), int | float) and each.get(key) is not None]
    if not drawable:
        return None
    n, f = max((each["n"], each["f"]) for each in drawable)
    here = [each for each in drawable if (each["n"], each["f"]) == (n, f)]
    figure, (axes,) = figure_with_axes(height=5.4, width=WIDE)
    for index, step in enumerate(dict.fromkeys(each["step"] for each in here)):
        chosen = [each for each in here if each["step"] == step]
        x = [max(each[key], LEAST_ERROR) for each in chosen]
        low = [each["lower"] for each in chosen]
        colour = COLOURS[index % len(COLOURS)]
        for place, each in zip(x, chosen, strict=True):
            if isinstance(each["upper"], int | float) and each["upper"] > each["lower"]:
                axes.plot([place, place], [each["lower"], each["upper"]], color=colour, alpha=0.35, linewidth=2)
        words_of_step = f"behind {step}" if step else "alone"
        # hollow where nothing is proved from above
        filled = ["none" if each["status"] == "lower" else colour for each in chosen]
        marks = axes.scatter(x, low, facecolors=filled, edgecolors=colour, marker=MARKS.get(step, "D"), s=28)
        axes.scatter([], [], color=colour, marker=MARKS.get(step, "D"), s=28, label=label(words_of_step))
        marks.set_urls([each["witness"] for each in chosen])
        for place, height, each in zip(x, low, chosen, strict=True):
            if not step:
                text = label(each["base"].rpartition(":")[2])
                axes.annotate(text, (place, height), (2, 3), textcoords="offset points", color=INK, fontsize=7)
    axes.axhline(f / (n - 2 * f), color=INK, linewidth=2, alpha=0.3)
    axes.set(xlabel=axis, ylabel=f"kappa* (n = {n}, f = {f})", xscale="log", yscale="log")
    legend(axes)
    infinite = [
        each["base"]
        for each in entries
        if (each["n"], each["f"]) == (n, f) and each.get("lower") == "inf" and not each["step"]
    ]
    beyond = f" Not drawn, kappa* is infinite also alone: {', '.join(infinite)}." if infinite else ""
    caption = (
        f"{words}Marks are inputs that were found (click one for its witness). A filled one has a proof: a bar reaches "
        "up to what is proved, if that is more. Of a hollow one nothing is proved, and kappa* may be larger. The line "
        f"is f/(n-2f): no rule beats it.{beyond}"
    )
    rows = [SHOWN, *([each.get(column) for column in SHOWN] for each in here)]
    return Picture(name, title, caption, svg_text(figure), csv_text(rows), command)
