"""The coefficient of the trimmed mean.

Problem: the smallest kappa for which CWTM is (f, kappa)-robust, f < n/2.
Statement: kappa = 6 f/(n-2f) (1 + f/(n-2f)) will do.
Computed: kappa* with witness and certificate over a grid of (n, f); for all (n, f) that the closed form f/(n-2f) (claim
    closed-form-cwtm) is below the coefficient, with sympy. The quotient is (n-2f)/(6(n-f)): the paper loses a factor of
    6 (1 + f/(n-2f)), which is not bounded when n - 2f stays small.
Reference: appendix A.1 (prop:tmean).
"""

from __future__ import annotations

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficient import compare, everywhere
from kappaguard.verify.theory.coefficients import CWTM
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """For all (n, f) by algebra, on the grid by certificates."""
    everywhere(kappa, lambda n, f, parity: f / (n - 2 * f))
    about = "kappa* = f/(n-2f) is below by a factor of at least 6."
    return compare("cwtm", kappa, effort, report, about)


CLAIM = Claim(
    "coefficient-cwtm",
    "CWTM is (f, kappa)-robust with kappa = {kappa}",
    "appendix A.1 (prop:tmean)",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(CWTM.expression)},
)
