"""Training in pictures: the ratio of the steps, errors against T, and what is left against ratio G^2."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    MARKERS,
    Picture,
    csv_text,
    figure_with_axes,
    label,
    legend,
    svg_text,
)


def runs(stored: Sequence[Mapping[str, Any]]) -> Picture | None:
    """The ratio over the steps of training runs."""
    lines = [each for each in stored if each["ratio"]]
    if not lines:
        return None
    figure, (axes,) = figure_with_axes(height=3.4)
    rows: list[Sequence[Any]] = [("run", "step", "ratio", "command")]
    for index, each in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(each["steps"], each["ratio"], color=colour, label=label(each["name"]), linewidth=1)
        rows += [[each["name"], *pair, each["command"]] for pair in zip(each["steps"], each["ratio"], strict=True)]
    axes.set(xlabel="step", ylabel="ratio", yscale="log")
    legend(axes)
    caption = (
        "the ratio of every step of a training run: squared error over variance of what the honest workers "
        "sent (the square of the paper's kappa-hat_t). What to see: how far the attack stays below the rule's kappa*, "
        "which only worst inputs reach."
    )
    command = "\n".join(each["command"] for each in lines)
    return Picture("runs", "the ratio in training", caption, svg_text(figure), csv_text(rows), command)


def rates(stored: Mapping[str, Any] | None) -> Picture | None:
    """Errors against T on log-log axes, with the fitted line of each series."""
    if stored is None or not stored["slopes"]:
        return None
    from matplotlib.ticker import LogLocator

    algorithms = list(dict.fromkeys(each["algorithm"] for each in stored["slopes"]))
    figure, grid = figure_with_axes(len(algorithms), height=3.4)
    rows: list[Sequence[Any]] = [("algorithm", "rule", "attack", "T", "error", "slope", "low", "high", "theorem")]
    for axes, algorithm in zip(grid, algorithms, strict=True):
        here = [each for each in stored["slopes"] if each["algorithm"] == algorithm]
        for index, each in enumerate(here):
            colour = COLOURS[index % len(COLOURS)]
            name = label(f"{each['rule']}, {each['attack']}: {_interval(each)}")
            size = 7 - 2.5 * index / max(1, len(here) - 1)
            style = {"color": colour, "marker": MARKERS[index % len(MARKERS)], "markersize": size, "fillstyle": "none"}
            axes.plot(each["horizons"], each["errors"], linestyle="none", label=name, **style)
            axes.plot(each["horizons"], _fitted(each), color=colour, linewidth=1)
            rows += [
                [algorithm, each["rule"], each["attack"], *pair, *(each[key] for key in rows[0][5:])]
                for pair in zip(each["horizons"], each["errors"], strict=True)
            ]
        axes.set(xlabel="T", ylabel="squared gradient", xscale="log", yscale="log")
        axes.set_xticks(here[0]["horizons"], [str(steps) for steps in here[0]["horizons"]])
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_title(f"{algorithm}: the theorem says slope {here[0]['theorem']:g}", fontsize=10, color=INK)
        axes.set_ylim(top=axes.get_ylim()[1] * 3)
        axes.legend(fontsize=7.5, frameon=False, labelcolor=INK, loc="upper right")
    caption = (
        "What is left of the squared gradient after T steps without heterogeneity (marks), the least-squares line of "
        "log error against log T, and its slope with a 95 % confidence interval. What to see: how near the slopes come "
        "to those of Theorems 1 and 2, 1/T for D-GD and 1/sqrt(T), once T is large, for D-SHB, which has noise. All "
        "honest gradients of D-GD are equal here and every robust rule returns them: its series coincide."
    )
    return Picture("rates", "Error against T", caption, svg_text(figure), csv_text(rows), stored["command"])


def floors(stored: Mapping[str, Any] | None) -> Picture | None:
    """Where runs with heterogeneity end, against ratio G^2 of the same run."""
    if stored is None or not stored["floors"]:
        return None
    figure, (axes,) = figure_with_axes(height=3.8)
    keys = ("problem", "setting", "rule", "attack", "n", "f", "steps", "left", "ratio", "heterogeneity_squared")
    rows: list[Sequence[Any]] = [(*keys, "ratio_g_squared")]
    points = [(each["ratio"] * each["heterogeneity_squared"], each) for each in stored["floors"]]
    rows += [[*(each[key] for key in keys), x] for x, each in points]
    for index, (name, members) in enumerate(_series(stored["floors"]).items()):
        here = [(x, each["left"]) for x, each in points if each in members]
        style = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}
        axes.plot(*zip(*here, strict=True), linestyle="none", label=label(name), **style)
    ends = [x for x, _ in points if x > 0]
    if ends:
        line = [min(ends) / 1.5, max(ends) * 1.5]
        axes.plot(line, line, color=INK, alpha=0.35, linewidth=1.5, label=label("left = ratio G²"))
        allowed = [9 * x for x in line]
        axes.plot(line, allowed, color=INK, alpha=0.6, linewidth=1, linestyle=":", label=label("9 ratio G²"))
    axes.set(xlabel="ratio G²", ylabel="squared gradient left", xscale="log", yscale="log")
    legend(axes)
    first = stored["floors"][0]
    caption = (
        f"Where robust D-GD ends under heterogeneity ({first['rule']} under {first['attack']}, T = {first['steps']}), "
        "against ratio G^2 of the same run, as f and the heterogeneity G (quadratics) or alpha (how unlike the "
        f"workers' data are; smaller is more unlike) vary. Fitted to the quadratics: slope {_interval(stored['fit'])}. "
        "What to see: what is left is about ratio G^2, a ninth of the 9 kappa G^2 (dotted) that the corrected "
        "Theorem 1 allows; a run above the line has not reached its floor yet."
    )
    return Picture("floors", "What no T removes", caption, svg_text(figure), csv_text(rows), stored["command"])


def _series(floors: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The floors where only f varies, and those where the setting does, under names that say which."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for problem in dict.fromkeys(each["problem"] for each in floors):
        here = [each for each in floors if each["problem"] == problem]
        first = [each for each in here if each["setting"] == here[0]["setting"]]
        varied = first if len(first) > 1 else []
        rest = [each for each in here if each not in varied]
        if varied:
            shares = ", ".join(str(each["f"]) for each in varied)
            found[f"{problem}, {here[0]['setting']}, f = {shares}"] = varied
        if rest:
            found[f"{problem}, f = {rest[0]['f']}, {', '.join(each['setting'] for each in rest)}"] = rest
    return found


def _interval(fitted: Mapping[str, Any]) -> str:
    return f"{fitted['slope']:.3f} ({fitted['low']:.3f} to {fitted['high']:.3f})"


def _fitted(each: Mapping[str, Any]) -> list[float]:
    """The least-squares line at the horizons: it goes through the mean of the logarithms."""
    x = [math.log(steps) for steps in each["horizons"]]
    middle = math.fsum(map(math.log, each["errors"])) / len(x)
    centre = math.fsum(x) / len(x)
    return [math.exp(middle + each["slope"] * (value - centre)) for value in x]
