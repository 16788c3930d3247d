"""Growth with the dimension: the lower bound on kappa* when d is fixed."""

from __future__ import annotations

from typing import Any

from kappaguard.reports.dossier.plan import Plan, bound
from kappaguard.verify.lower import search

DIMENSIONS = (1, 2, 4, 16, 64)


def compute(plan: Plan) -> dict[str, Any]:
    """One search for each d."""
    rows = [
        {"d": d} | bound(search(plan.rule, plan.n, plan.f, d=d, budget=plan.budget, seed=plan.seed), plan)
        for d in DIMENSIONS
    ]
    return {"rows": rows}


def seconds(plan: Plan) -> float:
    """All searches, with what shrinking takes."""
    return 2 * plan.budget * len(DIMENSIONS)
