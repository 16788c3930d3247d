"""What the claims closed_form_* share: kappa* over a grid of (n, f) is the closed form, by witness and certificate."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Effort, Finding, Report
from kappaguard.verify.theory.worst import grid, on_grid

AGREES = Fraction(1, 10**6)
"""How far below the closed form a witness may be that stays off its tie, and how far above it a rounded certificate."""


def compare(
    rule: str, closed: Callable[[int, int], Fraction], effort: Effort, report: Report, about: str, default: int = 11
) -> Finding:
    """Both bounds against the closed form; the pair (17, 4) is reported."""
    found = on_grid(rule, grid(effort, default=default), report)
    for (n, f), result in found.items():
        assert result.upper is not None
        value = closed(n, f)
        demand(
            value * (1 - AGREES) <= result.lower, f"the witness of {rule} at n = {n}, f = {f} attains the closed form"
        )
        demand(
            result.upper <= value * (1 + AGREES),
            f"the certificate of {rule} at n = {n}, f = {f} proves the closed form",
        )
        demand(result.lower <= value, f"no witness of {rule} at n = {n}, f = {f} is above the closed form")
    shown = found[17, 4]
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(closed(17, 4)),
        f"{about} Witness and certificate meet it at all {len(found)} pairs (n, f) tried; shown: n = 17, f = 4.",
        witness=shown.witness,
    )
