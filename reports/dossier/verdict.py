"""The verdict on a rule, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kappaguard.reports.dossier.escape import escaped
from kappaguard.reports.dossier.plan import Plan

GROWTH = 1.1
"""More than this factor from the smallest d to the largest is growth."""
USEFUL = 0.95


def verdict(plan: Plan, data: dict[str, dict[str, Any]], failed: dict[str, str]) -> list[str]:
    """One sentence for each thing that a reader wants to know first."""
    lines = list(_sentences(plan, data))
    if failed:
        lines.append(f"Left out, see below: {', '.join(escaped(name) for name in failed)}.")
    return lines


def _sentences(plan: Plan, data: dict[str, dict[str, Any]]) -> Iterator[str]:
    where = f"n = {plan.n}, f = {plan.f}"
    cell = next((row for row in data.get("grid", {}).get("rows", []) if (row["n"], row["f"]) == (plan.n, plan.f)), None)
    if "health" in data:
        checks = data["health"]["checks"]
        refuting = [each["check"] for each in checks if each["refutes"]]
        warning = [each["check"] for each in checks if each["finding"] is not None and not each["refutes"]]
        if refuting:
            yield f"**Not robust at {where}: kappa\\* is infinite** (health check {escaped(', '.join(refuting))})."
        elif warning:
            yield f"Sound, with warnings: {escaped(', '.join(warning))}."
        else:
            yield "Sound: all health checks pass."
    if cell is not None and "lower" in cell:
        yield from _bounded(cell, where)
    if "breakdown" in data:
        breaks, most = data["breakdown"]["breaks_at"], data["breakdown"]["most"]
        stands = "stands for every f < n/2 that it accepts" if breaks is None else f"breaks at f = {breaks}"
        yield f"Breakdown at n = {plan.n}: {stands} (the most possible is f = {most})."
    if "dimension" in data:
        yield from _growth(data["dimension"]["rows"])
    if "mixing" in data:
        yield from _mixed(data["mixing"]["rows"])
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


def _bounded(cell: dict[str, Any], where: str) -> Iterator[str]:
    best = f"{escaped(cell['best'])} has {cell['best_value']:.4g}"
    if cell["lower"] == "inf":
        yield f"kappa\\* is infinite at {where}; no rule gets below {cell['least']:.4g}, and {best}."
    else:
        times = cell["lower"] / cell["least"]
        yield (
            f"kappa\\* >= {cell['lower']:.4g} at {where}: {times:.3g} times f/(n-2f) = {cell['least']:.4g},"
            f" which no rule beats; {best}."
        )


def _growth(rows: list[dict[str, Any]]) -> Iterator[str]:
    finite = [row for row in rows if isinstance(row["lower"], float | int)]
    if len(finite) < len(rows):
        yield "Growth with d: infinite already at some d."
    elif finite and finite[0]["lower"] > 0:
        first, last = finite[0], max(finite, key=lambda row: row["lower"])
        if last["lower"] > GROWTH * first["lower"]:
            yield f"Growth with d: from {first['lower']:.4g} at d = 1 to {last['lower']:.4g} at d = {last['d']}."
        else:
            yield f"Growth with d: none seen up to d = {rows[-1]['d']}."


def _mixed(rows: list[dict[str, Any]]) -> Iterator[str]:
    alone = rows[0].get("lower")
    for row in rows[1:]:
        name = escaped(row["rule"].partition("+")[0])
        with_it = row.get("lower")
        if with_it is None:
            yield f"{name} in front: refused."
        elif with_it == "inf" or alone == "inf":
            before, after = ("infinite" if value == "inf" else f"{value:.4g}" for value in (alone, with_it))
            yield f"{name} in front: from {before} to {after}."
        elif alone:
            word = "better" if with_it < USEFUL * alone else "worse" if with_it > alone / USEFUL else "the same"
            yield f"{name} in front: {word}, from {alone:.4g} to {with_it:.4g}."


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
