"""The health checks at (n, f)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.reports.dossier.failure import failure
from kappaguard.reports.dossier.plan import Plan
from kappaguard.verify.guard.health import CHECKS, examine
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.judgement import Judgement

BEYOND = Fraction(10**6)
"""No coefficient that anybody claims is as large as this."""


def compute(plan: Plan) -> dict[str, Any]:
    """Every check with its question, and what it found."""
    health = examine(plan.subject(), BEYOND)
    found = {finding.check: finding for finding in health.findings}
    return {
        "checks": [
            {
                "check": check.name,
                "question": check.question,
                "finding": found[check.name].message if check.name in found else None,
                "refutes": check.name in found and found[check.name].refutes,
            }
            for check in CHECKS
        ],
        "lower": None if health.judgement is None else number(health.judgement.ratio),
        "why": None if health.judgement is None else _why(health.judgement),
        "witness": plan.keep(health.witness),
        "d": None if health.witness is None else health.witness.d,
    }


def _why(judgement: Judgement) -> str | None:
    return failure(judgement.ratio, judgement.witness, judgement.output)
