"""The study of gradients in one picture: every rule, with and without mixing, at every heterogeneity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import COLOURS, INK, figure_with_axes, finite, label, svg_text

OFFSETS = (-0.27, -0.09, 0.09, 0.27)

Row = Mapping[str, Any]


def study(
    rows: Sequence[Row],
    rules: Sequence[str],
    sources: Sequence[Sequence[str]],
    names: Sequence[str],
    titles: Sequence[str],
) -> str:
    """One panel per point of training, one line per rule, a bar per heterogeneity: median to 95 %, a dot at the most.

    Each bar is of the attack that reaches the highest 95 % quantile. Upright marks are kappa*, or its bounds.
    """
    figure, panels = figure_with_axes(len(sources), height=0.9 + 0.27 * len(rules))
    for axes, own, title in zip(panels, sources, titles, strict=True):
        for place, rule in enumerate(rules):
            for index, source in enumerate(own):
                best = worst_of(rows, rule, source)
                if best is None:
                    continue
                y = place + OFFSETS[index]
                colour = COLOURS[index]
                axes.plot(
                    [best["median"], best["quantile_95"]], [y, y], color=colour, linewidth=2.4, solid_capstyle="butt"
                )
                axes.plot([best["largest"]], [y], marker="o", markersize=2.4, color=colour)
            known = next((row for row in rows if row["rule"] == rule), None)
            for key in ("lower", "upper"):
                value = finite(None if known is None else known[key])
                if not math.isnan(value):
                    axes.plot([value, value], [place - 0.4, place + 0.4], color=INK, linewidth=1.6)
        axes.axvline(rows[0]["f"] / (rows[0]["n"] - 2 * rows[0]["f"]), color=INK, linewidth=3, alpha=0.2)
        axes.set(
            xscale="log", xlim=(0.03, 30), ylim=(len(rules) - 0.4, -0.6), title=title, xlabel="squared error / variance"
        )
        axes.set_yticks(range(len(rules)), [label(rule) for rule in rules] if axes is panels[0] else [])
        axes.tick_params(axis="y", labelsize=8)
    last = panels[-1]
    for index, name in enumerate(names):
        last.plot([], [], color=COLOURS[index], linewidth=2.4, label=label(name))
    last.plot([], [], color=INK, linewidth=1.6, label=label("kappa*"))
    figure.legend(*last.get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False, labelcolor=INK)
    return svg_text(figure)


def worst_of(rows: Sequence[Row], rule: str, source: str) -> Row | None:
    """The attack with the highest 95 % quantile."""
    own = [row for row in rows if row["rule"] == rule and row["source"] == source]
    return max(own, key=lambda row: float(row["quantile_95"]), default=None)
