"""The coefficient of the coordinate-wise median.

Problem: the smallest kappa for which CWMed is (f, kappa)-robust, f < n/2.
Statement: kappa = 4 (1 + f/(n-2f))^2 will do.
Computed: kappa* with witness and certificate over a grid of (n, f); for all (n, f) that the closed form (m-k)/k with
    m = n-f and k = floor(n/2)+1-f (claim closed-form-cwmed) is below the coefficient, with sympy, for either parity.
    The paper goes by way of GM, whose kappa* is the larger one for even n; on the line they differ less.
Reference: appendix A.1, proposition on CWMed.
"""

from __future__ import annotations

from typing import Any

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficient import compare, everywhere
from kappaguard.verify.theory.coefficients import CWMED
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """For all (n, f) by algebra, on the grid by certificates."""

    def closed(n: Any, f: Any, parity: int) -> Any:
        k = (n - parity) / 2 + 1 - f
        return (n - f - k) / k

    everywhere(kappa, closed)
    about = "kappa* = (m-k)/k, linear in f/(n-2f) where the coefficient is quadratic."
    return compare("cwmed", kappa, effort, report, about)


CLAIM = Claim(
    "coefficient-cwmed",
    "CWMed is (f, kappa)-robust with kappa = {kappa}",
    "appendix A.1, proposition on CWMed",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(CWMED.expression)},
)
