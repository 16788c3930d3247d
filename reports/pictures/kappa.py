"""kappa* in pictures: against f/n, and as a part of the paper's coefficients; every mark links to its proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kappaguard.reports.pictures.figure import (
    COLOURS,
    INK,
    MARKERS,
    Picture,
    csv_text,
    figure_with_axes,
    finite,
    inked,
    label,
    legend,
    svg_text,
)

KAPPA = ("rule", "n", "f", "lower", "upper", "paper", "witness", "certificate", "command")


def curves(entries: Sequence[Mapping[str, Any]], command: str, *, mixed: bool = False) -> Picture | None:
    """kappa* against f/n at the largest n, for every rule, or every rule behind nnm, with the universal bound."""
    prefix = "nnm+" if mixed else ""
    chosen = [each for each in entries if each["rule"].startswith(prefix) and ("+" in each["rule"]) == mixed]
    n = max((each["n"] for each in chosen), default=0)
    here = sorted((each for each in chosen if each["n"] == n), key=lambda each: each["f"])
    shares = sorted({each["f"] for each in here})
    if len(shares) < 3:
        return None
    figure, (axes,) = figure_with_axes()
    rows: list[Sequence[Any]] = [KAPPA]
    for index, rule in enumerate(dict.fromkeys(each["rule"] for each in chosen)):
        line = [each for each in here if each["rule"] == rule]
        x = [each["f"] / n for each in line]
        low, high = [finite(each["lower"]) for each in line], [finite(each["upper"]) for each in line]
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(x, low, color=colour, linewidth=1.6)
        marks = axes.scatter(x, low, color=colour, marker=MARKERS[index % len(MARKERS)], s=26, label=label(rule))
        marks.set_urls([each["witness"] for each in line])
        axes.fill_between(x, low, high, color=colour, alpha=0.1 if mixed else 0.18, linewidth=0)
        if any(each["paper"] is not None for each in line):
            axes.plot(x, [finite(each["paper"]) for each in line], color=colour, linestyle=":", linewidth=1.2)
        rows += [[each[key] for key in KAPPA] for each in line]
    axes.plot([f / n for f in shares], [f / (n - 2 * f) for f in shares], color=INK, linewidth=3, alpha=0.35)
    middle = shares[len(shares) // 2]
    place = (middle / n, middle / (n - 2 * middle))
    axes.annotate("f/(n-2f)", place, (4, -14), textcoords="offset points", color=INK, fontsize=9)
    axes.set(xlabel=f"f/n  (n = {n})", ylabel="kappa*", yscale="log")
    legend(axes, ncols=2)
    shown = (
        "Marks are inputs that were found (click one for its witness); the band reaches up to the certified bound, and "
        "without a band the two meet. Dotted: the paper's coefficient. Thick grey: f/(n-2f), which no rule beats. "
    )
    seen = (
        "What to see: behind nnm all rules lie close together, about four times above the bound that the trimmed mean "
        "attains without it."
        if mixed
        else "What to see: the trimmed mean lies on the bound; the paper's curves lie well above what is true; all "
        "explode as f/n approaches one half."
    )
    title = "kappa* behind nnm" if mixed else "kappa* against f/n"
    return Picture("kappa-nnm" if mixed else "kappa", title, shown + seen, svg_text(figure), csv_text(rows), command)


def tightness(entries: Sequence[Mapping[str, Any]], command: str) -> Picture | None:
    """Per rule with a coefficient in the paper: kappa* over the coefficient, for all (n, f)."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    known = [each for each in entries if "+" not in each["rule"] and each["lost"]]
    rules = list(dict.fromkeys(each["rule"] for each in known))
    if len({(each["n"], each["f"]) for each in known}) < 9:
        return None
    figure, grid = figure_with_axes(len(rules))
    n_most, f_most = max(each["n"] for each in known), max(each["f"] for each in known)
    scale = ScalarMappable(cmap="cividis")
    scale.set_clim(0, 1)
    rows: list[Sequence[Any]] = [(*KAPPA, "tightness")]
    for axes, rule in zip(grid, rules, strict=True):
        for each in known:
            if each["rule"] != rule:
                continue
            share = 1 / each["lost"]
            corner = (each["n"] - 0.5, each["f"] - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, color=scale.to_rgba(share), linewidth=0, url=each["certificate"]))
            rows.append([*(each[key] for key in KAPPA), share])
        axes.set(title=rule, xlabel="n", ylabel="f", xlim=(2.5, n_most + 0.5), ylim=(0.5, f_most + 0.5))
    bar = figure.colorbar(scale, ax=list(grid), label="kappa* / the paper's coefficient")
    bar.solids.set_rasterized(False)
    bar.solids.set_edgecolor("face")
    inked(bar.ax)
    caption = (
        "How much of the paper's coefficient is needed: 1 (bright) would be a tight bound; click a cell for its "
        "certificate. What to see: none is tight; the coefficients of the medians and of the trimmed mean are loosest "
        "(dark) where f comes near n/2."
    )
    return Picture("tightness", "Tightness over (n, f)", caption, svg_text(figure), csv_text(rows), command)
