"""The rule alone, behind nearest-neighbour mixing, and behind bucketing.

Bucketing is random: its permutation is the one of seed 0 here, so the bound holds for that one.
"""

from __future__ import annotations

from typing import Any

from kappaguard.reports.dossier.plan import Plan, bound, each_row
from kappaguard.rules.base.errors import InputError

STEPS = ("", "nnm+", "bucketing(s=2)+")


def compute(plan: Plan) -> dict[str, Any]:
    """One search for each."""
    return {"rows": each_row(STEPS, lambda step: _row(plan.at(rule=f"{step}{plan.rule}")))}


def _row(plan: Plan) -> dict[str, Any]:
    try:
        return {"rule": plan.rule} | bound(plan)
    except InputError as error:
        return {"rule": plan.rule, "refused": str(error)}
