"""kappa* of the mean around the median, which the paper leaves open.

Problem: the smallest kappa for which MeaMed (per coordinate, the mean of the m = n-f values nearest to the median) is
    (f, kappa)-robust.
Statement (ours): kappa*(MeaMed) = 4 f (f+k) / (k m) with k = floor(n/2)+1-f; a supremum that is not attained.
Proof. m (F - mean) is the sum of the Byzantine values in the window minus that of the honest ones outside. Pair them:
    with M the median, |b - M| <= |s - M|, so b - s <= 0 if s >= M and b - s <= 2 (M - s) else. With q honest values
    below M left out, m (F - mean) <= 2 (q M - the q smallest), and M is bounded as in closed-form-cwmed. The
    non-increasing p = 2q/k (k times), 0, -2 (q times) has partial sums at least those weights', so kappa = |p|^2/m =
    4 q (q+k)/(k m), increasing in q <= f. Approached by k honest values at 1/k, f at -1/f, the rest at 0, and the
    Byzantine ones just nearer to 1/k than -1/f is.
Computed: norm, order, counts and the witness's limit with sympy; certificates and witnesses over a grid.
Reference: kappaguard.
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal, nonnegative
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import compare
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The norm of p, the witness's limit, then the grid."""
    import sympy

    m, k, f, q, extra = sympy.symbols("m k f q extra", positive=True)
    demand(equal(k * (2 * q / k) - 2 * q, 0), "p sums to zero")
    demand(equal((k * (2 * q / k) ** 2 + 4 * q) / m, 4 * q * (q + k) / (k * m)), "its norm gives kappa")
    demand(nonnegative((2 * q * (k - 1) / k - q).subs(k, extra + 2)), "the partial sum at k - 1 for even n, k >= 2")
    top, low = 1 / k, -1 / f
    output = (k * top + f * (2 * top - low)) / m
    demand(equal(output**2 / ((k * top**2 + f * low**2) / m), 4 * f * (f + k) / (k * m)), "the limit of the witness")
    size, bad = sympy.symbols("n f", integer=True, positive=True)
    named = {m: size - bad, k: sympy.floor(size / 2) + 1 - bad, f: bad}
    stated = (4 * f * (f + k) / (k * m)).subs(named, simultaneous=True)
    demand(equal(stated, kappa.symbolic(size, bad)), "which is what is stated")
    about = "The paper gives none; it is at most 4 (f/(n-f)) (1 + 2f/(n+1-2f)), so of order f/n when n >= (2+nu) f."
    return compare("meamed", kappa, effort, report, about)


CLAIM = Claim(
    "closed-form-meamed",
    "kappa*(MeaMed) = {kappa}",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["meamed"].expression, 0)},
)
