"""One dossier, one number: the largest ratio found anywhere at the (n, f) of the plan stands wherever it belongs.

The sections search on their own, and one finds what another misses. A ratio that the health checks, the breakdown
point, the grid, a fixed d or the rule without mixing has found is a lower bound on the same kappa*, so the largest of
them replaces the others; in the table over d, among inputs of the same dimension. An f at which it is infinite breaks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from kappaguard.reports.dossier.plan import Plan
from kappaguard.reports.dossier.sections.grid import trend

FOUND = ("lower", "witness", "d", "why")

Data = dict[str, Any]


def agreed(plan: Plan, data: dict[str, Data]) -> dict[str, Data]:
    """The sections with the largest ratio at (n, f) in the grid, over d, and before mixing."""
    found = list(_found(plan, data))
    if not found:
        return data
    best = max(found, key=size)
    told = dict(data)
    if "grid" in data:
        rows = [_raised(row, best) if _here(plan, row) else row for row in data["grid"]["rows"]]
        told["grid"] = data["grid"] | {"rows": rows, "slope": trend(rows)}
    if "mixing" in data:
        first, *rest = data["mixing"]["rows"]
        told["mixing"] = data["mixing"] | {"rows": [_raised(first, best), *rest]}
    if "dimension" in data:
        told["dimension"] = data["dimension"] | {"rows": _over_dimensions(data["dimension"]["rows"], found)}
    if "breakdown" in data:
        told["breakdown"] = _broken(plan, data["breakdown"], told.get("grid", {}).get("rows", []), best)
    return told


def _broken(plan: Plan, breakdown: Data, grid: list[Data], best: Data) -> Data:
    """The breakdown point with every f at which some search has an infinite ratio at the same n."""
    infinite = {row["f"]: row for row in grid if row["n"] == breakdown["n"] and row.get("lower") == "inf"}
    if best["lower"] == "inf" and plan.n == breakdown["n"]:
        infinite.setdefault(plan.f, best)
    rows = [
        row | {"state": "breaks", "detail": "found by a search", **{key: infinite[row["f"]].get(key) for key in FOUND}}
        if row["state"] == "stands" and row["f"] in infinite
        else row
        for row in breakdown["rows"]
    ]
    breaks = min((row["f"] for row in rows if row["state"] == "breaks"), default=None)
    return breakdown | {"rows": rows, "breaks_at": breaks}


def largest(plan: Plan, data: dict[str, Data]) -> Data | None:
    """The row with the largest ratio at (n, f), if any section has one."""
    return max(_found(plan, data), key=size, default=None)


def size(row: Data) -> float:
    """The ratio of a row as a number that can be compared."""
    return math.inf if row["lower"] == "inf" else float(row["lower"])


def _here(plan: Plan, row: Data) -> bool:
    return (row["n"], row["f"]) == (plan.n, plan.f)


def _found(plan: Plan, data: dict[str, Data]) -> Iterator[Data]:
    """Every row about the rule alone at (n, f) that has a ratio with a witness."""
    rows = [row for row in data.get("grid", {}).get("rows", []) if _here(plan, row)]
    rows += data.get("dimension", {}).get("rows", [])
    rows += data.get("mixing", {}).get("rows", [])[:1]
    rows += [row for row in data.get("breakdown", {}).get("rows", []) if row["f"] == plan.f]
    rows += [data["health"]] if "health" in data else []
    yield from (row for row in rows if row.get("lower") is not None and row.get("witness"))


def _raised(row: Data, best: Data) -> Data:
    """The row with a ratio that is at least its own; one that was refused stays so."""
    if row.get("lower") is None or size(row) >= size(best):
        return row
    return row | {key: best.get(key) for key in FOUND}


def _over_dimensions(rows: list[Data], found: list[Data]) -> list[Data]:
    """For every d that a row or a witness has, the largest ratio of an input of that dimension."""
    kept = {row["d"]: row for row in rows}
    for row in found:
        d = row["d"]
        kept[d] = _raised(kept[d], row) if d in kept else {key: row.get(key) for key in FOUND}
    return [kept[d] for d in sorted(kept)]
