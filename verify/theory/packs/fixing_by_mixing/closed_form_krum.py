"""kappa* of Krum when n <= 3f, and how good the paper's coefficient is.

Problem: the smallest kappa for which Krum (n - f neighbours, itself included) is (f, kappa)-robust, for 2f < n <= 3f.
Statement (ours): kappa*(Krum) = n^2 / (f (n-2f)): at least that for all of these, at most that at every pair up to a
    size.
    So the paper's 6 (n-f)/(n-2f) is too large by 6 f (n-f)/n^2 only: by 4/3 at n = 3f, for all f, and by 3/2 at most.
Proof of the lower bound. On a line, n-2f honest vectors at f, f at -(n-2f) (mean 0, V = f (n-2f)), and the Byzantine
    ones together just below n. A Byzantine vector has its f-1 copies and the n-2f vectors at f for
    neighbours, with a score just below (n-2f) (n-f)^2. A low vector has the same neighbours at f, at distance n-f:
    (n-2f) (n-f)^2. A vector at f has f neighbours at a distance of n-f, or a trifle less: f (n-f)^2, which is no less
    because n-2f <= f (equal at n = 3f, where ties are broken arbitrarily). So Krum selects a Byzantine one, and the
    ratio tends to n^2 / (f (n-2f)).
Proof of the upper bound: ``verify/theory/krum_upper.py``. It is for all n and f if Krum selects a Byzantine vector; if
    it selects an honest one, multipliers show pair by pair that the ratio is below. For n > 3f kappa* follows other
    formulas (claim closed-form-krum-wide).
Computed: the limit with sympy, the input (at an eps of 1/10^8) in exact arithmetic; the multipliers in fractions at
    every pair up to a size; certificates, which know nothing of them, at small ones.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.krum_upper import bounded
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled

TRIFLE = Fraction(1, 10**8)


def groups(n: int, f: int) -> list[list[Fraction]]:
    """The input of the proof, the Byzantine vectors first: at n = 3f a tie is broken for them."""
    honest = [[Fraction(f)]] * (n - 2 * f) + [[Fraction(2 * f - n)]] * f
    return [[Fraction(n) - (n - f) * TRIFLE]] * f + honest


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The limit, the input up to n = 60, the multipliers, the certificates on the grid."""
    f, rest = symbols("f rest")
    n = 2 * f + rest
    spread = (rest * f**2 + f * rest**2) / (n - f)
    demand(equal(n**2 / spread, kappa.symbolic(n, f)), "the ratio in the limit")
    # f = rest + more is n <= 3f, and 9 f (n-f) - 2 n^2 >= 0 is that the paper loses at least 4/3
    more = symbols("more")
    loss = 6 * f * (n - f) / n**2
    small = {f: rest + more}
    demand(nonnegative((loss - Fraction(4, 3)).subs(small)), "the coefficient is at least 4/3 of it for n <= 3f")
    demand(nonnegative(Fraction(3, 2) - loss), "and at most 3/2")
    for size, bad in [(3, 1), (12, 4), (25, 10), (60, 20), (59, 29)]:
        witness = settled("krum", bad, groups(size, bad), range(bad, size), found_by="three groups")
        bound = kappa(size, bad)
        demand(bound * (1 - AGREES) <= witness.lower <= bound, f"the input at n = {size}, f = {bad}")
    far = effort.choose(25, 50, 130)
    for size in range(3, far + 1):
        for bad in range(-(-size // 3), (size + 1) // 2):
            demand(bounded(size, bad, kappa(size, bad)), f"the multipliers at n = {size}, f = {bad}")
    most = effort.choose(8, 11, 17)
    pairs = [(size, bad) for size in range(3, most + 1) for bad in range(1, (size + 1) // 2) if size <= 3 * bad]
    for done, (size, bad) in enumerate(pairs):
        bound = kappa(size, bad)
        result = kappa_star("krum", size, bad)
        assert result.upper is not None
        demand(result.upper <= bound * (1 + AGREES), f"the certificate at n = {size}, f = {bad}")
        demand(result.lower >= bound * (1 - AGREES), f"the witness at n = {size}, f = {bad}")
        report(done + 1, len(pairs))
    shown = settled("krum", 3, groups(9, 3), range(3, 9), found_by="three groups")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(kappa(9, 3)),
        f"Multipliers in closed form prove it at all pairs with n <= 3f and n <= {far}; certificates agree at all "
        f"{len(pairs)} pairs with n <= {most}. The paper's coefficient is 4/3 to 3/2 times as large. Shown: n = 9, f = "
        "3.",
        witness=shown,
        reach=f"n <= {far}",
    )


CLAIM = Claim(
    "closed-form-krum",
    "kappa*(Krum) = {kappa} for 2f < n <= 3f",
    "kappaguard",
    "proved",
    check,
    scope="certified",
    terms={"kappa": Term(OURS["krum"].expression, 0)},
)
