"""Pictures as SVG texts: colours that colour-blind readers can tell apart, and text in the colour of the page."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
"""Okabe and Ito's, without black and yellow."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
KAPPA = ("rule", "n", "f", "lower", "upper", "paper")
INK = "#010203"
"""Replaced by the colour of the page's text."""


@dataclass(frozen=True)
class Picture:
    """A picture with its caption and its data as CSV."""

    name: str
    title: str
    caption: str
    svg: str
    csv: str


def curves(entries: Sequence[Mapping[str, Any]]) -> Picture | None:
    """kappa* against f/n at the largest n, for every rule, with the universal bound."""
    plain = [each for each in entries if "+" not in each["rule"]]
    n = max((each["n"] for each in plain), default=0)
    if len({each["f"] for each in plain if each["n"] == n}) < 3:
        return None
    rules = list(dict.fromkeys(each["rule"] for each in plain))
    figure, axes = _figure()
    rows: list[Sequence[Any]] = [KAPPA]
    for index, rule in enumerate(rules):
        line = sorted((each for each in plain if each["rule"] == rule and each["n"] == n), key=lambda each: each["f"])
        x = [each["f"] / n for each in line]
        low, high = [_finite(each["lower"]) for each in line], [_finite(each["upper"]) for each in line]
        style = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
        axes.plot(x, low, label=_label(rule), markersize=5, linewidth=1.6, **style)
        axes.fill_between(x, low, high, color=style["color"], alpha=0.18, linewidth=0)
        if any(each["paper"] is not None for each in line):
            axes.plot(x, [_finite(each["paper"]) for each in line], color=style["color"], linestyle=":", linewidth=1.2)
        rows += [[each[key] for key in KAPPA] for each in line]
    fs = sorted({each["f"] for each in plain if each["n"] == n})
    axes.plot([f / n for f in fs], [f / (n - 2 * f) for f in fs], color=INK, linewidth=2.5, alpha=0.5, label="f/(n-2f)")
    axes.set(xlabel=f"f/n (n = {n})", ylabel="kappa*", yscale="log")
    axes.legend(ncols=2, fontsize=9, frameon=False, labelcolor=INK)
    caption = (
        "Exact kappa* (lines with marks; a band where only a bracket is known), the paper's coefficient (dotted) and "
        "the universal lower bound f/(n-2f) (thick). What to see: the trimmed mean lies on the bound; the paper's "
        "curves lie well above what is true; all explode as f/n approaches one half."
    )
    return Picture("kappa", "kappa* against f/n", caption, _svg(figure), _csv(rows))


def tightness(entries: Sequence[Mapping[str, Any]]) -> Picture | None:
    """Per rule with a coefficient in the paper: kappa* over the coefficient, for all (n, f)."""
    known = [each for each in entries if "+" not in each["rule"] and each["lost"]]
    rules = list(dict.fromkeys(each["rule"] for each in known))
    if len({(each["n"], each["f"]) for each in known}) < 9:
        return None
    figure, grid = _figure(len(rules))
    n_most, f_most = max(each["n"] for each in known), max(each["f"] for each in known)
    rows: list[Sequence[Any]] = [("rule", "n", "f", "kappa", "paper", "tightness")]
    for axes, rule in zip(grid, rules, strict=True):
        cells = [[math.nan] * (n_most + 1) for _ in range(f_most + 1)]
        for each in known:
            if each["rule"] == rule:
                cells[each["f"]][each["n"]] = 1 / each["lost"]
                rows.append([rule, each["n"], each["f"], each["upper"], each["paper"], 1 / each["lost"]])
        image = axes.imshow(cells, origin="lower", vmin=0, vmax=1, cmap="cividis", aspect="auto")
        axes.set(title=rule, xlabel="n", ylabel="f", xlim=(2.5, n_most + 0.5), ylim=(0.5, f_most + 0.5))
        axes.title.set_color(INK)
    bar = figure.colorbar(image, ax=list(grid), label="kappa* / the paper's coefficient")
    _inked(bar.ax)
    caption = (
        "How much of the paper's coefficient is needed: 1 (bright) would be a tight bound. What to see: none is; the "
        "coefficients of the medians and of the trimmed mean are loosest (dark) where f comes near n/2."
    )
    return Picture("tightness", "Tightness over (n, f)", caption, _svg(figure), _csv(rows))


def traces(searches: Sequence[Mapping[str, Any]]) -> Picture | None:
    """Best ratio against evaluations, one line per search."""
    if not searches:
        return None
    figure, axes = _figure()
    rows: list[Sequence[Any]] = [("rule", "n", "f", "adversary", "evaluations", "seconds", "ratio")]
    for index, each in enumerate(searches):
        reference = each["reference"]
        points = each["trace"]
        x = [max(1, point[1]) for point in points] + [each["evaluations"]]
        y = [point[3] / reference for point in points] + [points[-1][3] / reference]
        colour = COLOURS[index % len(COLOURS)]
        axes.step(
            x, y, where="post", color=colour, label=_label(f"{each['rule']}, {each['n']}, {each['f']}"), linewidth=1.6
        )
        rows += [[each["rule"], each["n"], each["f"], *point[:4]] for point in points]
    axes.axhline(1, color=INK, alpha=0.4, linewidth=1)
    axes.set(xlabel="evaluations", ylabel="ratio / upper bound on kappa*", xscale="log", ylim=(0, 1.05))
    axes.legend(fontsize=9, frameon=False, labelcolor=INK)
    caption = (
        "The best ratio that the search had found after so many evaluations of the rule, as a fraction of the "
        "certified upper bound. What to see: with exact bounds it reaches 1; behind nnm the gap may be the search's or "
        "the bound's."
    )
    return Picture("traces", "How the search gets there", caption, _svg(figure), _csv(rows))


def runs(stored: Sequence[Mapping[str, Any]]) -> Picture | None:
    """kappa-hat_t over the steps of training runs."""
    lines = [each for each in stored if each["kappa_hat"]]
    if not lines:
        return None
    figure, axes = _figure()
    rows: list[Sequence[Any]] = [("run", "step", "kappa_hat")]
    for index, each in enumerate(lines):
        axes.plot(
            each["steps"], each["kappa_hat"], color=COLOURS[index % len(COLOURS)], label=each["name"], linewidth=1
        )
        rows += [[each["name"], *pair] for pair in zip(each["steps"], each["kappa_hat"], strict=True)]
    axes.set(xlabel="step", ylabel="kappa-hat", yscale="log")
    axes.legend(fontsize=9, frameon=False, labelcolor=INK)
    caption = (
        "The ratio of every step of a training run. What to see: it stays far below kappa*, because attacks that "
        "people use are not worst inputs."
    )
    return Picture("runs", "kappa-hat in training", caption, _svg(figure), _csv(rows))


def _figure(parts: int = 1) -> tuple[Any, Any]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "kappaguard"
    figure = Figure(figsize=(7.2, 4.2) if parts == 1 else (7.2, 2.6 * math.ceil(parts / 2)), layout="constrained")
    figure.patch.set_alpha(0)
    if parts == 1:
        axes = figure.add_subplot()
        _inked(axes)
        return figure, axes
    grid = list(figure.subplots(math.ceil(parts / 2), 2, squeeze=False).ravel())
    for spare in grid[parts:]:
        spare.set_visible(False)
    for axes in grid:
        _inked(axes)
    return figure, grid[:parts]


def _inked(axes: Any) -> None:
    axes.patch.set_alpha(0)
    axes.tick_params(colors=INK, which="both")
    for spine in axes.spines.values():
        spine.set_color(INK)
        spine.set_alpha(0.5)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(INK)


def _svg(figure: Any) -> str:
    """The figure as an SVG element that scales with the page and takes its colour."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(
        r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1), count=1
    )


def _label(text: str) -> str:
    """Text that is no formula, and that a legend does not leave out."""
    return " " + text.replace("$", r"\$")


def _finite(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
