"""How a coefficient of the paper is compared with kappa*: shared by the claims coefficient_*."""

from __future__ import annotations

from typing import Any

from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.theory.algebra import demand, nonnegative, symbols
from kappaguard.verify.theory.claim import Effort, Finding, Report
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, on_grid, text


def everywhere(stated: Term, closed: Any) -> None:
    """kappa*, in closed form as a function of (n, f, parity of n), is at most the coefficient for all 0 <= f < n/2.

    With n = 2f + g, g >= 1, the difference is a rational function of f and h >= 0, where g = h + 1.
    """
    import sympy

    f, h = symbols("f h")
    n = 2 * f + h + 1
    for parity in (0, 1):
        demand(nonnegative(sympy.together(stated.symbolic(n, f) - closed(n, f, parity))), f"n of parity {parity}")


def compare(rule: str, stated: Term, effort: Effort, report: Report, about: str) -> Finding:
    """kappa* over a grid of (n, f), certified, against the coefficient; the tightest pair is reported."""
    found = on_grid(rule, grid(effort), report)
    for (n, f), result in found.items():
        assert result.upper is not None
        demand(result.upper <= stated(n, f), f"the certificate of {rule} at n = {n}, f = {f} is below the coefficient")

    def share(item: tuple[tuple[int, int], KappaResult]) -> float:
        (n, f), result = item
        return float(result.lower / stated(n, f))

    (n, f), tightest = max(found.items(), key=share)
    loosest = min(found.items(), key=share)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(tightest.lower),
        float(stated(n, f)),
        f"{about} Over {len(found)} pairs (n, f), each certified, kappa* is at most "
        f"{text(share(((n, f), tightest)))} of the coefficient (n = {n}, f = {f}) and at least "
        f"{text(share(loosest))} (n = {loosest[0][0]}, f = {loosest[0][1]}).",
        witness=tightest.witness,
    )
