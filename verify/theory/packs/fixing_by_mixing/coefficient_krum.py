"""The coefficient of Krum.

Problem: the smallest kappa for which Krum (n - f neighbours, itself included) is (f, kappa)-robust, f < n/2.
Statement: kappa = 6 (1 + f/(n-2f)) will do.
Computed: kappa* with witness and certificate over a grid of (n, f). For all (n, f) the paper's chain, step by step in
    sympy, with y the selected vector, s its score, mean 0 and T = sum over S of ||x_i||^2:
    1. s <= mean over j in S of the score of j <= (1/|S|) sum over i, j in S of ||x_i - x_j||^2 = 2 T;
    2. ||y||^2 <= 2 ||y - x_i||^2 + 2 ||x_i||^2, the difference being ||y - 2 x_i||^2;
    3. summed over the at least n - 2f honest neighbours, (n-2f)/2 ||y||^2 <= s + T <= 3 T.
    With weights 1 + t and 1 + 1/t in step 2 the constant 6 becomes 3 + 2t + 1/t, at best 3 + 2 sqrt 2 = 5.83.
Reference: appendix A.1, proposition on Krum.
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficient import compare
from kappaguard.verify.theory.coefficients import KRUM
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The chain for all (n, f), certificates on the grid."""
    import sympy

    y, x, n, f = sympy.symbols("y x n f")
    demand(equal(2 * (y - x) ** 2 + 2 * x**2 - y**2, (y - 2 * x) ** 2), "step 2 is a square")
    m = sympy.Symbol("m", positive=True)
    values = sympy.symbols("v:4")
    centre = sum(values) / 4
    pairs = sum((a - b) ** 2 for a in values for b in values) / 4
    demand(equal(pairs, 2 * sum((a - centre) ** 2 for a in values)), "step 1, the sum over pairs")
    demand(equal(2 * 3 * m / (n - 2 * f) / m * (n - f), kappa.symbolic(n, f)), "step 3, the constant")
    t = sympy.Symbol("t", positive=True)
    demand(equal((3 + 2 * t + 1 / t).subs(t, 1 / sympy.sqrt(2)), 3 + 2 * sympy.sqrt(2)), "the best weight")
    return compare("krum", kappa, effort, report, "Every step of the paper's chain holds.")


CLAIM = Claim(
    "coefficient-krum",
    "Krum is (f, kappa)-robust with kappa = {kappa}",
    "appendix A.1, proposition on Krum",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(KRUM.expression)},
)
