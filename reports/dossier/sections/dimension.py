"""Growth with the dimension: the lower bound on kappa* when d is fixed."""

from __future__ import annotations

from typing import Any

from kappaguard.reports.dossier.plan import Plan, bound, each_row

DIMENSIONS = (1, 2, 4, 16, 64)


def compute(plan: Plan) -> dict[str, Any]:
    """One search for each d."""
    return {"rows": each_row(DIMENSIONS, lambda d: bound(plan, d) | {"d": d})}
