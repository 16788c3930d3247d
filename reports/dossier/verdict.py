"""The verdict on a rule, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kappaguard.reports.bounds import lower_shown
from kappaguard.reports.dossier.agree import largest, size
from kappaguard.reports.dossier.markdown_text import escaped
from kappaguard.reports.dossier.plan import Plan
from kappaguard.reports.dossier.sections.grid import best_rule

GROWTH = 1.001
"""More than this factor above what was found at the smallest d is growth."""


def verdict(plan: Plan, data: dict[str, dict[str, Any]], failed: dict[str, str]) -> list[str]:
    """One sentence for each thing that a reader wants to know first."""
    lines = list(_sentences(plan, data))
    if failed:
        lines.append(f"Left out, see below: {', '.join(escaped(name) for name in failed)}.")
    return lines


def _sentences(plan: Plan, data: dict[str, dict[str, Any]]) -> Iterator[str]:
    where = f"n = {plan.n}, f = {plan.f}"
    best = largest(plan, data)
    if "health" in data:
        checks = data["health"]["checks"]
        refuting = [each["check"] for each in checks if each["refutes"]]
        warning = [each["check"] for each in checks if each["finding"] is not None and not each["refutes"]]
        if refuting:
            yield f"**Not robust at {where}** (health check {escaped(', '.join(refuting))})."
        elif warning:
            yield f"Sound, with warnings: {escaped(', '.join(warning))}."
        else:
            yield "Sound: all health checks pass."
    if "rows" in data.get("recipe", {}):
        last = data["recipe"]["rows"][-1]
        if last.get("status") == "exact":
            value, name = f"{float(last['upper']):.6g}", escaped(data["recipe"]["name"])
            yield f"**kappa\\* at {where} is exactly {value}**, with a certificate ({name})."
    if best is not None:
        yield from _bounded(best, plan, where)
    if "breakdown" in data:
        breaks, most = data["breakdown"]["breaks_at"], data["breakdown"]["most"]
        stands = (
            "stands the inputs tried at every f < n/2 that it accepts" if breaks is None else f"breaks at f = {breaks}"
        )
        yield f"Breakdown at n = {plan.n}: {stands} (the most possible is f = {most})."
    if "dimension" in data:
        yield from _growth(data["dimension"]["rows"])
    if "mixing" in data:
        yield from _mixed(data["mixing"]["rows"])
    if "happens" in data:
        yield from _happening(plan, data["happens"], best)
    if "training" in data:
        yield from _trained(data["training"])
    if "cost" in data:
        powers = [
            f"{letter}^{data['cost'][f'exponent_{letter}']:.1f}"
            for letter in ("n", "d")
            if data["cost"][f"exponent_{letter}"] is not None
        ]
        if powers:
            yield f"Cost grows like {' and '.join(powers)}."


def _bounded(best: dict[str, Any], plan: Plan, where: str) -> Iterator[str]:
    least = plan.f / (plan.n - 2 * plan.f)
    name, value = best_rule(plan.n, plan.f)
    other = f"{escaped(name)} has {value:.4g}"
    if best["lower"] == "inf":
        reason = f" ({escaped(best['why'])})" if best.get("why") else ""
        yield f"kappa\\* is infinite at {where}{reason}; no rule gets below {least:.4g}, and {other}."
    else:
        yield (
            f"kappa\\* >= {_short(best)} at {where}: {best['lower'] / least:.3g} times f/(n-2f) = {least:.4g},"
            f" which no rule beats; {other}."
        )


def _growth(rows: list[dict[str, Any]]) -> Iterator[str]:
    first, most = rows[0], max(rows, key=size)
    if first["lower"] == "inf":
        yield f"Growth with d: infinite already at d = {first['d']}."
    elif size(most) > GROWTH * size(first):
        found = f"found {_short(first)} at d = {first['d']}"
        yield f"Growth with d: {found}, and the most, {_short(most)}, at d = {most['d']}."
    else:
        yield f"Growth with d: found {_short(first)} at d = {first['d']}, and no more up to d = {rows[-1]['d']}."


def _mixed(rows: list[dict[str, Any]]) -> Iterator[str]:
    alone = rows[0]
    for row in rows[1:]:
        name = escaped(row["rule"].partition("+")[0])
        if row.get("lower") is None:
            yield f"{name} in front: refused."
        elif alone.get("lower") is not None:
            yield f"{name} in front: found {_short(row)} with it, {_short(alone)} without."


def _short(row: dict[str, Any]) -> str:
    return lower_shown(row["lower"], 4)


def _happening(plan: Plan, data: dict[str, Any], best: dict[str, Any] | None) -> Iterator[str]:
    own = [each for each in data["estimates"] if each["rule"] == plan.rule]
    most = max(own, key=lambda each: float(each["largest"]))
    found = (
        f"On gradients of {escaped(data['source'])}: a ratio of at most {float(most['largest']):.4g} ({most['attack']})"
    )
    if best is None or best["lower"] == "inf" or not size(best):
        yield f"{found} in {most['inputs']} rounds."
    else:
        part = 100 * float(most["largest"]) / size(best)
        yield f"{found} in {most['inputs']} rounds, {part:.2g} % of the largest found."


def _trained(data: dict[str, Any]) -> Iterator[str]:
    runs = [(row["attack"], row["rule"]) for row in data["rows"] if row["attack"] != "none"]
    lost = [attack for attack, run in runs if run["status"] != "finished" or run["accuracy"] is None]
    if lost:
        yield f"Training under attack: did not finish under {escaped(', '.join(lost))}."
        return
    attack, worst = min(runs, key=lambda pair: pair[1]["accuracy"])
    other = min(row["beside"]["accuracy"] or 0.0 for row in data["rows"] if row["attack"] != "none")
    yield (
        f"Training under attack: at worst {100 * worst['accuracy']:.0f} % accuracy ({escaped(attack)});"
        f" {escaped(data['beside'])} at worst {100 * other:.0f} %."
    )
