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

from kappaguard.verify.claims.claim import Claim, Effort, Finding, Report
from kappaguard.verify.claims.coefficient import compare, everywhere
from kappaguard.verify.coefficients import CWMED


def check(effort: Effort, report: Report) -> Finding:
    """For all (n, f) by algebra, on the grid by certificates."""

    def closed(n: Any, f: Any, parity: int) -> Any:
        k = (n - parity) / 2 + 1 - f
        return (n - f - k) / k

    everywhere(CWMED, closed)
    about = "kappa* = (m-k)/k, linear in f/(n-2f) where the coefficient is quadratic."
    return compare(CWMED, effort, report, ("symbolic", "exact"), about)


CLAIM = Claim(
    "coefficient-cwmed",
    "CWMed is (f, kappa)-robust with kappa = 4 (1 + f/(n-2f))^2",
    "appendix A.1, proposition on CWMed",
    "proved",
    check,
)
