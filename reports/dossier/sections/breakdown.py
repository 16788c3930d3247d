"""The breakdown point: from which f on equal honest vectors are no longer returned, which makes kappa* infinite."""

from __future__ import annotations

from typing import Any

from kappaguard.reports.dossier.failure import failure
from kappaguard.reports.dossier.plan import Plan, each_row
from kappaguard.reports.dossier.sections.health import BEYOND
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.health import zero_variance
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.precision import equal_honest


def compute(plan: Plan) -> dict[str, Any]:
    """Every f up to the largest that a rule can stand, f < n/2."""
    rows = each_row(range(1, (plan.n - 1) // 2 + 1), lambda f: _row(plan.at(f=f)))
    broken = [row["f"] for row in rows if row["state"] == "breaks"]
    return {"n": plan.n, "rows": rows, "breaks_at": min(broken, default=None), "most": (plan.n - 1) // 2}


def _row(plan: Plan) -> dict[str, Any]:
    try:
        subject = plan.subject()
        found = zero_variance.CHECK.look(subject)
    except InputError as error:
        return {"f": plan.f, "state": "refuses", "detail": str(error), "witness": None}
    tried = {"tried": sum(1 for _ in equal_honest(subject.n, subject.f))}
    if found is None or found.example is None or found.example.subset is None:
        return {"f": plan.f, "state": "stands", "detail": None, "witness": None} | tried
    witness = subject.witness(found.example.array, found.example.subset, "zero-variance")
    judgement = subject.judge(witness)
    if judgement.ratio <= BEYOND:
        return {"f": plan.f, "state": "stands", "detail": found.message, "witness": None} | tried
    kept = {"lower": number(judgement.ratio), "witness": plan.keep(judgement.witness), "d": witness.d}
    kept["why"] = failure(judgement.ratio, judgement.witness, judgement.output)
    return {"f": plan.f, "state": "breaks", "detail": found.message} | kept
