"""kappa* of the coordinate-wise median.

Problem: the smallest kappa for which CWMed is (f, kappa)-robust.
Statement (ours): kappa*(CWMed) = (m-k)/k with m = n-f and k = floor(n/2)+1-f, the least number of honest values without
    which the Byzantine ones do not decide the median.
Proof. With h_1 >= ... >= h_m as for CWTM, the median is at most h_k for odd n and (h_(k-1) + h_k)/2 for even n, so m
    (F - mean) <= sum w_i h_i with w = m e_k - 1 or m (e_(k-1) + e_k)/2 - 1. Let p = m/k - 1 (k times), -1 (m-k
    times): non-increasing, of sum 0, and every partial sum of p is at least that of w (at j < k: j m/k >= 0, and at j
    = k-1 for even n: (k-1) m/k >= m/2 because k >= 2). Summation by parts gives sum w_i h_i <= sum p_i h_i, and
    Cauchy kappa = |p|^2/m = (m-k)/k. Attained: k honest values at m-k, m-k at -k, the Byzantine ones with the former.
Computed: norm, sums and the witness's ratio with sympy; certificates and witnesses over a grid.
Reference: kappaguard.
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal, nonnegative
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import compare
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The norm of p, its partial sums, the witness, then the grid."""
    import sympy

    m, k, extra = sympy.symbols("m k extra", positive=True)
    demand(equal(k * (m / k - 1) - (m - k), 0), "p sums to zero")
    demand(equal((k * (m / k - 1) ** 2 + m - k) / m, (m - k) / k), "its norm gives kappa")
    demand(nonnegative(((k - 1) * m / k - m / 2).subs(k, extra + 2)), "the partial sum at k - 1 for even n, k >= 2")
    spread = (k * (m - k) ** 2 + (m - k) * k**2) / m
    demand(equal((m - k) ** 2 / spread, (m - k) / k), "the ratio of the witness")
    size, bad = sympy.symbols("n f", integer=True, positive=True)
    named = {m: size - bad, k: sympy.floor(size / 2) + 1 - bad}
    demand(equal(((m - k) / k).subs(named), kappa.symbolic(size, bad)), "which is what is stated")
    about = "The paper's 4 (1 + f/(n-2f))^2 is larger by at least 4, and by about (n-f)/(n-2f) more as n nears 2f."
    return compare("cwmed", kappa, effort, report, about)


CLAIM = Claim(
    "closed-form-cwmed",
    "kappa*(CWMed) = {kappa}",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["cwmed"].expression, 0)},
)
