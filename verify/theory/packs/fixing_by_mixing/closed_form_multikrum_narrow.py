"""kappa* of MultiKrum when n = 2f + 1, which the paper leaves open.

Problem: the smallest kappa for which MultiKrum (the mean of the n - f vectors with the best Krum scores) is
    (f, kappa)-robust, with one honest vector more than Byzantine ones.
Statement (ours): kappa*(MultiKrum) = 2f (2f^3 + f - 1) / ((f - 1) (f + 1)^2) at n = 2f + 1 for f = 3, ..., 6, and
    for f = 7, 8 by verify --full; it is a lower bound for all f >= 3. (The bound 4f/(n-2f) = 4f, sharp for n >= 3f, is
    never attained here. At f = 2 kappa* is 6.98142..., from the same cell without scatter.)
Proof of the lower bound. One honest vector g at 0, one, a, at (f-1)^2, and f - 1 at f^2 + 1, these f - 1 scattered in
    other directions as the corners of a regular simplex with squared radius w = (2f^3 - 5f^2 - 1)/(2f); the Byzantine
    ones just above -f (f+1). With n - f = f + 1 neighbours, itself included:
    - a Byzantine vector has its copies and g: a score just below f^2 (f+1)^2;
    - a corner has the honest vectors: 2(f-1)w + (f^2+1)^2 + w + (2f)^2 + w = f^2 (f+1)^2;
    - a has at most the sum over the honest vectors, (f-1)^4 + (f-1)(4f^2 + w), which is less;
    - g has the honest vectors, whose sum (f-1)^4 + (f-1)((f^2+1)^2 + w) is more.
    So the Byzantine vectors and a are selected. The error is (f^2 (f+1) + (f-1)(f^2+1))/(f+1) = (2f^3 + f - 1)/(f+1)
    and V = (2f^3 + f - 1)(f-1)/(2f).
Computed: the algebra with sympy, the input in exact arithmetic, the upper bound by certificates of its
    recipe (``verify/judge``).
Reference: kappaguard.
"""

from __future__ import annotations

import math
from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.coefficients import MULTIKRUM_NARROW
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled

TRIFLE = Fraction(1, 10**9)
DIGITS = 10**12


def simplex_input(f: int) -> list[list[Fraction]]:
    """The input of the proof, the honest vectors first."""
    corners, radius = f - 1, Fraction(2 * f**3 - 5 * f**2 - 1, 2 * f)
    scale = Fraction(math.isqrt(int(radius * corners / (corners - 1) * DIGITS**2)), DIGITS)
    away = [Fraction(0)] * corners
    x = [[Fraction(0), *away], [Fraction((f - 1) ** 2), *away]]
    for corner in range(corners):
        out = [scale * (Fraction(int(corner == k)) - Fraction(1, corners)) for k in range(corners)]
        x.append([Fraction(f * f + 1), *out])
    return x + [[-f * (f + 1) * (1 - TRIFLE), *away]] * f


def _algebra(kappa: Term) -> None:
    more = symbols("more")
    f = 3 + more
    level, middle, reach = f**2 + 1, (f - 1) ** 2, f * (f + 1)
    w = (2 * f**3 - 5 * f**2 - 1) / (2 * f)
    demand(nonnegative(w), "the squared radius")
    corner = 2 * (f - 1) * w + level**2 + w + (level - middle) ** 2 + w
    demand(equal(corner, reach**2), "a corner's score is a Byzantine one's")
    demand(nonnegative(reach**2 - middle**2 - (f - 1) * ((level - middle) ** 2 + w)), "a has a smaller score")
    demand(nonnegative(middle**2 + (f - 1) * (level**2 + w) - reach**2), "g has a larger score")
    demand(nonnegative(reach**2 - level**2 - w), "the corners are nearer to g than the Byzantine vectors")
    error = (f * reach + (f - 1) * level) / (f + 1)
    mean = (middle + (f - 1) * level) / (f + 1)
    variance = (middle**2 + (f - 1) * (level**2 + w)) / (f + 1) - mean**2
    demand(equal(error, (2 * f**3 + f - 1) / (f + 1)), "the error")
    demand(equal(variance, (2 * f**3 + f - 1) * (f - 1) / (2 * f)), "the variance")
    demand(equal(error**2 / variance, kappa.symbolic(2 * f + 1, f)), "the ratio in the limit")


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra, the input up to f = 20, the certificates up to n = 13, or 17 with --full."""
    _algebra(kappa)
    for bad in (3, 4, 8, 20):
        witness = settled("multikrum", bad, simplex_input(bad), found_by="simplex")
        bound = kappa(2 * bad + 1, bad)
        demand(bound * (1 - AGREES) <= witness.lower <= bound, f"the input at f = {bad}")
    most = effort.choose(4, 6, 8)
    for bad in range(3, most + 1):
        bound = kappa(2 * bad + 1, bad)
        result = kappa_star("multikrum", 2 * bad + 1, bad)
        assert result.upper is not None
        demand(result.upper <= bound * (1 + AGREES), f"the certificate at f = {bad}")
        demand(result.lower >= bound * (1 - AGREES), f"the witness at f = {bad}")
        report(bad - 2, most - 2)
    shown = settled("multikrum", 3, simplex_input(3), found_by="simplex")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(kappa(7, 3)),
        f"Certified as an equality for f = 3, ..., {most}; as an upper bound for larger f it is open. The paper gives "
        "none. Shown: n = 7, f = 3.",
        witness=shown,
        reach=f"f <= {most}",
    )


CLAIM = Claim(
    "closed-form-multikrum-narrow",
    "kappa*(MultiKrum) >= {kappa} at n = 2f+1, f >= 3, with equality where certified",
    "kappaguard",
    "proved",
    check,
    scope="certified",
    terms={"kappa": Term(MULTIKRUM_NARROW.expression, 0)},
)
