"""Verdicts as JSON objects."""

from __future__ import annotations

from typing import Any

import kappaguard
from kappaguard.rules.base.text import printable
from kappaguard.rules.names import is_code
from kappaguard.verify.guard.verdict import Verdict, number


def scope(verdict: Verdict) -> str:
    """What a verdict is about: for which n, f, dimension and arithmetic, and by which kind of evidence."""
    where = f"n = {verdict.n}, f = {verdict.f}"
    if verdict.verdict == "proved" and verdict.about is not None:
        return f"{where}, {verdict.about}"
    if verdict.verdict == "proved":
        return f"{where}, every dimension, exact arithmetic, by a certificate or a cited proof"
    if verdict.verdict == "refuted":
        kind = "floats, rounding allowed for" if is_code(verdict.rule) else "exact arithmetic where the rule has one"
        width = "" if verdict.witness is None else f", dimension {verdict.witness.d}"
        return f"{where}{width}, {kind}, by a witness"
    return f"{where}, the inputs that were tried"


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
        "scope": printable(scope(verdict)),
        "called": None if verdict.called is None else printable(verdict.called),
        "traced": None if verdict.traced is None else printable(verdict.traced),
        "witness": verdict.path,
        "unsaved": None if verdict.unsaved is None else printable(verdict.unsaved),
        "fixed": list(verdict.fixed),
        "rejected": [printable(text) for text in verdict.rejected],
        "suppressed": {name: printable(reason) for name, reason in verdict.suppressed},
        "health": [each.to_data() | {"message": printable(each.message)} for each in verdict.findings],
        "adversaries": list(verdict.effort.adversaries),
        "seconds": verdict.effort.seconds,
        "evaluations": verdict.effort.evaluations,
        "seed": verdict.effort.seed,
        "version": kappaguard.__version__,
    }
