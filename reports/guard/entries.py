"""Verdicts as JSON objects."""

from __future__ import annotations

from typing import Any

import kappaguard
from kappaguard.rules.text import printable
from kappaguard.verify.verdict import Verdict, number


def entry(verdict: Verdict) -> dict[str, Any]:
    """One verdict; texts that come from rules hold no control characters."""
    return {
        "rule": printable(verdict.rule),
        "n": verdict.n,
        "f": verdict.f,
        "claim": printable(verdict.claim),
        "bound": number(verdict.bound),
        "lower": number(verdict.lower),
        "upper": number(verdict.upper),
        "exact": {
            "bound": str(verdict.bound),
            "lower": str(verdict.lower),
            "upper": None if verdict.upper is None else str(verdict.upper),
        },
        "verdict": verdict.verdict,
        "reason": printable(verdict.reason),
        "trouble": None if verdict.trouble is None else printable(verdict.trouble),
        "witness": verdict.path,
        "fixed": list(verdict.fixed),
        "rejected": [printable(text) for text in verdict.rejected],
        "health": [each.to_data() | {"message": printable(each.message)} for each in verdict.findings],
        "adversaries": list(verdict.effort.adversaries),
        "seconds": verdict.effort.seconds,
        "evaluations": verdict.effort.evaluations,
        "seed": verdict.effort.seed,
        "version": kappaguard.__version__,
    }
