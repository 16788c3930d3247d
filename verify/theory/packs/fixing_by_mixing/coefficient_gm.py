"""The coefficient of the geometric median.

Problem: the smallest kappa for which GM is (f, kappa)-robust, f < n/2.
Statement: kappa = 4 (1 + f/(n-2f))^2 will do.
Computed: kappa* with witness and certificate over a grid of (n, f); for all (n, f) that the closed form
    floor(n/2)/(ceil(n/2)-f) (claim closed-form-gm) is below the coefficient, with sympy, for either parity of n. The
    coefficient grows with the square of f/(n-2f) and kappa* only with its first power.
Reference: appendix A.1 (prop:gm).
"""

from __future__ import annotations

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficient import compare, everywhere
from kappaguard.verify.theory.coefficients import GM
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """For all (n, f) by algebra, on the grid by certificates."""
    everywhere(kappa, lambda n, f, parity: (n - parity) / (n + parity - 2 * f))
    about = "kappa* = floor(n/2)/(ceil(n/2)-f), linear in f/(n-2f) where the coefficient is quadratic."
    return compare("gm", kappa, effort, report, about)


CLAIM = Claim(
    "coefficient-gm",
    "GM is (f, kappa)-robust with kappa = {kappa}",
    "appendix A.1 (prop:gm)",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(GM.expression)},
)
