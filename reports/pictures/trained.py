"""Training on worst inputs in pictures: where it ends against f/n, and whether mixing in front helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import COLOURS, INK, MARKERS, Picture, csv_text, figure_with_axes, svg_text
from kappaguard.reports.trained import reached

MIXED = "nnm+"
STYLES = ("-", "--", ":")


def worst_inputs(stored: Mapping[str, Any] | None) -> Picture | None:
    """Left what D-GD leaves on the worst input of every rule, right that with nnm over that without."""
    if stored is None:
        return None
    left = {(each["rule"], each["f"]): each["gd"] for each in stored["runs"] if reached(each)}
    shares = sorted({f for _, f in left})
    bases = [each for each in dict.fromkeys(rule for rule, _ in left) if not each.startswith(MIXED)]
    if not bases:
        return None
    n = stored["runs"][0]["n"]
    figure, (ends, quotients) = figure_with_axes(2, height=4.4)
    rows: list[Sequence[Any]] = [("rule", "n", "f", "gd_left", "gd_left_behind_nnm")]
    for index, rule in enumerate(bases):
        mark = {
            "color": COLOURS[index % len(COLOURS)],
            "marker": MARKERS[index % len(MARKERS)],
            "linestyle": STYLES[index // len(COLOURS) % len(STYLES)],
        }
        here = [f for f in shares if (rule, f) in left]
        both = [f for f in here if (MIXED + rule, f) in left]
        ends.plot([f / n for f in here], [left[rule, f] for f in here], markersize=4, linewidth=1, **mark)
        ratios = [left[MIXED + rule, f] / left[rule, f] for f in both]
        quotients.plot([f / n for f in both], ratios, label=rule, markersize=4, linewidth=1, **mark)
        rows += [[rule, n, f, left[rule, f], left.get((MIXED + rule, f), "")] for f in here]
    quotients.axhline(1, color=INK, alpha=0.5, linewidth=1)
    for axes, title in ((ends, "left of the squared gradient, over G²"), (quotients, "behind nnm / without")):
        axes.set(xlabel="f/n", yscale="log")
        axes.set_title(title, fontsize=10, color=INK)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    handles, names = quotients.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=6, fontsize=7.5, frameon=False, labelcolor=INK)
    caption = (
        "Robust D-GD with every rule on losses made of the rule's own worst input: where it ends is kappa* G² (a lower "
        "bound on it, where kappa* behind nnm is not known exactly). What to see: right, below the line mixing helps "
        "against the worst case, above it hurts. For a small share f/n it helps rules that select one or few vectors, "
        "and medians; it never helps a rule whose own worst case is as good as that of cwtm, and near f/n = 1/2 it "
        "hurts nearly all. Points at which rounding decides a tie are left out."
    )
    return Picture(
        "witnesses", "Training on worst inputs", caption, svg_text(figure), csv_text(rows), stored["command"]
    )
