"""The lower bound on kappa* over a grid of n and f/n, against f/(n-2f), which no rule beats, and our best rule."""

from __future__ import annotations

import math
from typing import Any

from kappaguard.reports.dossier.plan import Plan, bound, each_row
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.theory.coefficients import OURS

SHARES = (0.1, 0.2, 0.3, 0.4)


def cells(plan: Plan) -> list[tuple[int, int]]:
    """About half of n, and n, with f from a tenth to four tenths."""
    pairs = {(plan.n, plan.f)}
    for n in {max(5, (plan.n + 1) // 2), plan.n}:
        pairs |= {(n, f) for f in (round(share * n) for share in SHARES) if 2 <= 2 * f < n}
    return sorted(pairs)


def compute(plan: Plan) -> dict[str, Any]:
    """One search for each pair, and the slope of the trend."""
    rows = each_row(cells(plan), lambda pair: _cell(plan.at(n=pair[0], f=pair[1])))
    return {"rows": rows, "slope": trend(rows)}


def trend(rows: list[dict[str, Any]]) -> float | None:
    """The slope of log ratio over log f/(n-2f), from the finite ratios."""
    finite = [row for row in rows if isinstance(row.get("lower"), float) and row["lower"] > 0]
    return _slope([(row["least"], row["lower"]) for row in finite])


def _cell(plan: Plan) -> dict[str, Any]:
    least = plan.f / (plan.n - 2 * plan.f)
    best, value = best_rule(plan.n, plan.f)
    row = {"n": plan.n, "f": plan.f, "least": least, "best": best, "best_value": value}
    try:
        return row | bound(plan)
    except InputError as error:
        return row | {"refused": str(error)}


def best_rule(n: int, f: int) -> tuple[str, float]:
    """The rule of ours with the smallest kappa* that is known in closed form."""
    known = [(float(form(n, f)), name) for name, form in OURS.items() if form.holds(n, f)]
    value, name = min(known)
    return name, value


def _slope(points: list[tuple[float, float]]) -> float | None:
    """Of log kappa over log f/(n-2f), by least squares."""
    xs, ys = [math.log(a) for a, _ in points], [math.log(b) for _, b in points]
    if len(set(xs)) < 3:
        return None
    middle, height = sum(xs) / len(xs), sum(ys) / len(ys)
    across = sum((x - middle) ** 2 for x in xs)
    return sum((x - middle) * (y - height) for x, y in zip(xs, ys, strict=True)) / across
