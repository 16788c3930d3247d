"""kappa* of MultiKrum, which the paper leaves open.

Problem: the smallest kappa for which MultiKrum (the mean of the n - f vectors with the best Krum scores) is
    (f, kappa)-robust.
Statement (ours): kappa*(MultiKrum) <= 4f/(n-2f) wherever it is certified (n <= 13, and n <= 17 by verify --full), and
    >= 4f/(n-2f) for all n >= 3f.
Proof of the lower bound. On a line, n-2f honest vectors at 0, f at 1, and the Byzantine ones just above -1. A vector
    at 1 has its copies and those at 0 for neighbours: a score of n-2f. A Byzantine one has a score just below that,
    and a vector at 0 one just below f <= n-2f. So the vectors at 1 are left out, the mean is f/(n-f) (1 + 1) away, and
    V = f (n-2f)/(n-f)^2.
Computed: the limit with sympy, the input in exact arithmetic, and the upper bound by certificates of its recipe
    (``verify/judge``). For n < 3f kappa* is smaller than that:
    see closed-form-multikrum-narrow for n = 2f + 1; it is 45/8 at n = 8, f = 3; elsewhere it is between the two bounds
    that ``kappaguard exact`` gives.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled

TRIFLE = Fraction(1, 10**8)


def groups(n: int, f: int) -> list[list[Fraction]]:
    """The input of the proof, the honest vectors first."""
    return [[Fraction(0)]] * (n - 2 * f) + [[Fraction(1)]] * f + [[TRIFLE - 1]] * f


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The limit, the input up to n = 60, the certificates on the grid."""
    f, rest = symbols("f rest")
    m = f + rest
    demand(equal((2 * f / m) ** 2 / (f * rest / m**2), kappa.symbolic(2 * f + rest, f)), "the ratio in the limit")
    for size, bad in [(3, 1), (12, 4), (25, 8), (60, 20), (60, 3)]:
        witness = settled("multikrum", bad, groups(size, bad), range(size - bad), found_by="three groups")
        bound = kappa(size, bad)
        demand(bound * (1 - AGREES) <= witness.lower <= bound, f"the input at n = {size}, f = {bad}")
    most = effort.choose(9, 13, 17)
    pairs = [(size, bad) for size in range(3, most + 1) for bad in range(1, (size + 1) // 2)]
    for done, (size, bad) in enumerate(pairs):
        bound = kappa(size, bad)
        result = kappa_star("multikrum", size, bad)
        assert result.upper is not None
        demand(result.upper <= bound * (1 + AGREES), f"the certificate at n = {size}, f = {bad}")
        demand(size < 3 * bad or result.lower >= bound * (1 - AGREES), f"the witness at n = {size}, f = {bad}")
        report(done + 1, len(pairs))
    shown = settled("multikrum", 4, groups(17, 4), range(13), found_by="three groups")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(kappa(17, 4)),
        f"Certified as an upper bound at all {len(pairs)} pairs (n, f) with n <= {most}, and attained in the limit "
        "wherever n >= 3f. The paper gives none. Shown: n = 17, f = 4.",
        witness=shown,
        reach=f"n <= {most}",
    )


CLAIM = Claim(
    "closed-form-multikrum",
    "kappa*(MultiKrum) <= {kappa} where certified, with equality for n >= 3f",
    "kappaguard",
    "proved",
    check,
    scope="certified",
    terms={"kappa": Term(OURS["multikrum"].expression, 0)},
)
