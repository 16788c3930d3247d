"""Curves as a picture: one panel per attack, colours for rules and line styles for what stands in front of them."""

from __future__ import annotations

import io
import re
from typing import Any

from kappaguard.training.reproduce.curves import Curve

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's: told apart with every kind of colour blindness."""
STYLES = {"nnm": "-", "bucketing": "--", "": ":"}
AXES = {"accuracy": "test accuracy (%)", "ratio": "error² / variance (paper's kappa-hat squared)"}
PATHS = re.compile(r' d="[^"]*"')


def picture(drawn: list[Curve], quantity: str, title: str) -> str:
    """An SVG. With several seeds, the band between the least and the largest value around the mean.

    A triangle at the right edge is the paper's number for the rule of that colour: the largest accuracy in 800 steps,
    in Table 2.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    attacks = list(dict.fromkeys(curve.attack for curve in drawn))
    columns = 1 if len(attacks) == 1 else 2
    lines = -(-len(attacks) // columns)
    with mpl.rc_context({"svg.hashsalt": "kappaguard", "font.size": 8, "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.2 * columns, 2.6 * lines + 0.9), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False)
        for place, panel in enumerate(panels.flat):
            if place >= len(attacks):
                panel.set_axis_off()
                continue
            _draw(panel, [curve for curve in drawn if curve.attack == attacks[place]], quantity)
            panel.set_title(attacks[place], fontsize=8)
        beside = "; triangles: the paper's Table 2" if any(curve.paper for curve in drawn) else ""
        figure.suptitle(title + beside, fontsize=9)
        handles = {line.get_label(): line for panel in panels.flat for line in panel.get_lines()}
        named = {name: line for name, line in handles.items() if not name.startswith("_")}
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4, fontsize=7)
        room = io.StringIO()
        figure.savefig(room, format="svg", metadata={"Date": None, "Creator": "kappaguard", "Title": title})
    # a tenth of a point is finer than any line
    text = PATHS.sub(lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), room.getvalue())
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _draw(panel: Any, own: list[Curve], quantity: str) -> None:
    bases = list(dict.fromkeys(curve.rule.rpartition("+")[2] for curve in own))
    for curve in own:
        before, _, base = curve.rule.rpartition("+")
        colour = COLOURS[bases.index(base) % len(COLOURS)]
        points = curve.summary()
        if not points:
            continue
        steps, mean, least, most = zip(*points, strict=True)
        panel.plot(steps, mean, STYLES.get(before, "-."), color=colour, linewidth=1.1, label=curve.rule)
        if len(curve.seeds) > 1:
            panel.fill_between(steps, least, most, color=colour, alpha=0.15, linewidth=0)
        if curve.paper is not None:
            filled = colour if before == "nnm" else "none"
            panel.plot(
                [1.02], [curve.paper[0]], "<", transform=panel.get_yaxis_transform(), color=colour, clip_on=False,
                markerfacecolor=filled, markersize=4, label="_paper",
            )  # fmt: skip
    if quantity == "ratio":
        panel.set_yscale("log")
    panel.set_xlabel("step")
    panel.set_ylabel(AXES[quantity], fontsize=7)
    panel.grid(alpha=0.3, linewidth=0.4)
