"""How a coefficient of the paper is compared with kappa*: shared by the claims coefficient_*."""

from __future__ import annotations

from typing import Any

from kappaguard.search.result import KappaResult
from kappaguard.verify.claims.algebra import demand, nonnegative, symbols
from kappaguard.verify.claims.claim import Effort, Finding, Method, Report
from kappaguard.verify.claims.worst import grid, on_grid, text
from kappaguard.verify.coefficients import ClosedForm


def everywhere(form: ClosedForm, closed: Any) -> None:
    """kappa*, in closed form as a function of (n, f, parity of n), is at most the coefficient for all 0 <= f < n/2.

    With n = 2f + g, g >= 1, the difference is a rational function of f and h >= 0, where g = h + 1.
    """
    import sympy

    f, h = symbols("f h")
    n = 2 * f + h + 1
    names = {str(symbol): symbol for symbol in form.symbolic.free_symbols}
    stated = form.symbolic.subs({names["n"]: n, names["f"]: f}, simultaneous=True)
    for parity in (0, 1):
        demand(nonnegative(sympy.together(stated - closed(n, f, parity))), f"{form.name}, n of parity {parity}")


def compare(form: ClosedForm, effort: Effort, report: Report, methods: tuple[Method, ...], about: str) -> Finding:
    """kappa* over a grid of (n, f), certified, against the coefficient; the tightest pair is reported."""
    (rule,) = form.rules
    found = on_grid(rule, grid(effort), report)
    for (n, f), result in found.items():
        assert result.upper is not None
        demand(result.upper <= form(n, f), f"the certificate of {rule} at n = {n}, f = {f} is below the coefficient")

    def share(item: tuple[tuple[int, int], KappaResult]) -> float:
        (n, f), result = item
        return float(result.lower / form(n, f))

    (n, f), tightest = max(found.items(), key=share)
    loosest = min(found.items(), key=share)
    return Finding(
        "proved",
        methods,
        float(tightest.lower),
        float(form(n, f)),
        f"{about} Over {len(found)} pairs (n, f), each certified, kappa* is at most "
        f"{text(share(((n, f), tightest)))} of the coefficient (n = {n}, f = {f}) and at least "
        f"{text(share(loosest))} (n = {loosest[0][0]}, f = {loosest[0][1]}).",
        witness=tightest.witness,
    )
