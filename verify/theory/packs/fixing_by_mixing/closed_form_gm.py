"""kappa* of the geometric median.

Problem: the smallest kappa for which GM is (f, kappa)-robust, in any dimension.
Statement (ours): kappa*(GM) = p/(m-p) with p = floor(n/2), m = n-f, that is floor(n/2)/(ceil(n/2)-f). Attained for
    odd n, approached for even n in dimension two.
Proof. Let y be the median, the honest mean 0, ||y|| = t, z_j = (y - x_j)/t, w_j = <z_j, y/t>. The honest pulls c_j
    along y (c_j = w_j/|z_j|, or anything in [-1, 1] if x_j = y) sum to at most f. Then sum w_j = m, and sum
    ||x_j||^2/t^2 = sum |z_j|^2 - m. Over P = {w_j > 0}, Cauchy: m^2 <= sum c_j^2 sum |z_j|^2. The k vectors outside P
    have c_j >= -1, so sum over P of c_j^2 <= min(f + k, m - k) <= floor(n/2), two integers of sum n. So V >= t^2 (m/p
    - 1).
Computed: the last step and the witness's ratio with sympy; the minimum for every k on the grid; certificates and
    witnesses (rigorous enclosures) over the grid.
Reference: kappaguard.
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import compare
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra, the counting, then the grid."""
    import sympy

    m, p, t = sympy.symbols("m p t", positive=True)
    demand(equal(t**2 / (t**2 * (m / p - 1)), p / (m - p)), "the bound from the variance")
    spread = (p * (m - p) ** 2 + (m - p) * p**2) / m
    demand(equal(p**2 / spread, p / (m - p)), "the ratio of the witness for odd n")
    for n, f in grid(effort, 30, 60, 200):
        counted = max(min(f + k, n - f - k) for k in range(n - f + 1))
        demand(counted == n // 2, "the larger of the minima is floor(n/2)")
    size, bad = sympy.symbols("n f", integer=True, positive=True)
    half = sympy.floor(size / 2)
    # m - p = n - f - floor(n/2) = ceil(n/2) - f
    named = (p / (m - p)).subs({p: half, m: half + sympy.ceiling(size / 2) - bad})
    demand(equal(named, kappa.symbolic(size, bad)), "which is what is stated")
    about = "The paper's 4 (1 + f/(n-2f))^2 loses about 4 (n-f)^2 / (n (n-2f))."
    return compare("gm", kappa, effort, report, about)


CLAIM = Claim(
    "closed-form-gm",
    "kappa*(GM) = {kappa}",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["gm"].expression, 0)},
)
