"""kappa* of the trimmed mean.

Problem: the smallest kappa for which CWTM is (f, kappa)-robust.
Statement (ours): kappa*(CWTM) = f/(n-2f), the universal lower bound: no rule is better in the worst case.
Proof. Let h_1 >= ... >= h_m be the honest values on the line, m = n-f, and F >= mean. Among the f + i largest values at
    least i are honest, so F is at most the mean of h_1 .. h_(n-2f), and m (F - mean) <= sum w_i h_i with weights
    w = f/(n-2f) (n-2f times) and -1 (f times), of sum 0. By Cauchy (F - mean)^2 <= |w|^2/m V = f/(n-2f) V. The
    universal lower bound is attained by every rule's worst case. In R^d: claim coordinate-wise.
Computed: |w|^2/m and the sum with sympy; certificates and witnesses over a grid. The paper's coefficient is larger by
    6 (1 + f/(n-2f)).
Reference: kappaguard.
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import compare
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The norm of the weights, then the grid."""
    import sympy

    n, f = sympy.symbols("n f", positive=True)
    high = f / (n - 2 * f)
    demand(equal((n - 2 * f) * high - f, 0), "the weights sum to zero")
    demand(equal(((n - 2 * f) * high**2 + f) / (n - f), kappa.symbolic(n, f)), "their norm gives kappa")
    demand(equal(6 * f / (n - 2 * f) * (1 + f / (n - 2 * f)) / high, 6 * (1 + high)), "what the paper loses")
    about = "CWTM attains the universal lower bound; the paper's coefficient is 6 (1 + f/(n-2f)) times as large."
    return compare("cwtm", kappa, effort, report, about)


CLAIM = Claim(
    "closed-form-cwtm",
    "kappa*(CWTM) = {kappa}",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["cwtm"].expression, 0)},
)
