"""GM, CWMed and Krum are not better than a constant, however small f/n is.

Problem: F is GM, CWMed or Krum, 1 <= f < n/2.
Statement: kappa >= 1 if n-f is even and kappa >= (n-f-1)/(n-f+1) if it is odd, hence kappa >= 1/3, so kappa is
    Omega(1).
Computed: the paper's input (floor((n-f)/2) values at -1, the other honest and all Byzantine ones at 1), re-evaluated
    in exact arithmetic for every rule, both parities. An odd n-f is at least 3 (n-f >= f+1 >= 2), so the paper's own
    input gives 1/2, not 1/3, and kappa*(CWMed) = 1/2 at n = 4, f = 1: claim rule-lower-bound-half is the best
    constant for the three. For GM alone kappa* >= 1.
Reference: appendix A.2 (prop:kappa-gar-lb).
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficients import SPECIFIC_ANY, SPECIFIC_EVEN, SPECIFIC_ODD
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled, text

RULES = ("gm", "cwmed", "krum")


def check_parity(parity: int, effort: Effort, report: Report, bound: Term) -> Finding:
    """The paper's input for n - f of one parity."""
    size = symbols("size")
    mean = parity / size
    demand(equal((1 - mean) ** 2 / (1 - mean**2), bound.symbolic(size + 1, 1)), "the ratio of the input")
    pairs = [(n, f) for n, f in grid(effort, 9, 13, 17) if (n - f) % 2 == parity]
    least = None
    for done, (n, f) in enumerate(pairs):
        m = n - f
        x = [[-1]] * (m // 2) + [[1]] * (n - m // 2)
        for rule in RULES:
            witness = settled(rule, f, x)
            demand(witness.lower == bound(n, f), f"{rule} at n = {n}, f = {f} has the stated ratio")
            share = Fraction(kappa_star(rule, n, f).lower) / bound(n, f)
            least = min(least or (share, rule, n, f, witness), (share, rule, n, f, witness), key=lambda item: item[0])
        report(done + 1, len(pairs))
    assert least is not None
    share, rule, n, f, witness = least
    return Finding(
        "proved",
        ("exact", "symbolic"),
        float(kappa_star(rule, n, f).lower),
        float(witness.lower),
        f"The input has the stated ratio for all three rules at {len(pairs)} pairs (n, f); kappa* is nearest to it "
        f"for {rule} at n = {n}, f = {f}, where it is {text(share)} times as large.",
        ">=",
        witness,
    )


def check_third(effort: Effort, report: Report, bound: Term) -> Finding:
    """kappa* of the three rules is at least 1/3 everywhere."""
    return _least(effort, report, bound(), "The paper's 1/3 can be raised to 1/2: see rule-lower-bound-half.")


def check_half(effort: Effort, report: Report, bound: Term) -> Finding:
    """And at least 1/2, which is attained."""
    m = symbols("extra") + 3
    demand(nonnegative((m - 1) / (m + 1) - bound.symbolic()), "(m-1)/(m+1) is at least that for m >= 3")
    return _least(effort, report, bound(), "Attained by CWMed at n = 4, f = 1: no better constant for the three.")


def _least(effort: Effort, report: Report, bound: Fraction, about: str) -> Finding:
    pairs = grid(effort, 8, 11, 17)
    values = []
    for done, (n, f) in enumerate(pairs):
        values += [(kappa_star(rule, n, f), rule) for rule in RULES]
        report(done + 1, len(pairs))
    result, rule = min(values, key=lambda item: item[0].lower)
    demand(result.lower >= bound, "every kappa* is above the bound")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(result.lower),
        float(bound),
        f"{about} The least kappa* on the grid is {text(result.lower)} ({rule}, n = {result.n}, f = {result.f}).",
        ">=",
        result.witness,
    )


CLAIMS = (
    Claim(
        "rule-lower-bound-even",
        "kappa >= {bound} for GM, CWMed and Krum if n-f is even",
        "appendix A.2 (prop:kappa-gar-lb)",
        "proved",
        partial(check_parity, 0),
        scope="instances",
        terms={"bound": Term(SPECIFIC_EVEN.expression, 1)},
    ),
    Claim(
        "rule-lower-bound-odd",
        "kappa >= {bound} for GM, CWMed and Krum if n-f is odd",
        "appendix A.2 (prop:kappa-gar-lb)",
        "proved",
        partial(check_parity, 1),
        scope="instances",
        terms={"bound": Term(SPECIFIC_ODD.expression, 1)},
    ),
    Claim(
        "rule-lower-bound",
        "kappa >= {bound} for GM, CWMed and Krum, so kappa is Omega(1)",
        "appendix A.2 (prop:kappa-gar-lb)",
        "proved",
        check_third,
        scope="instances",
        terms={"bound": Term(SPECIFIC_ANY.expression, 1)},
    ),
    Claim(
        "rule-lower-bound-half",
        "kappa >= {bound} for GM, CWMed and Krum, and that is attained",
        "kappaguard",
        "proved",
        check_half,
        scope="instances",
        terms={"bound": Term("1/2", 1)},
    ),
)
