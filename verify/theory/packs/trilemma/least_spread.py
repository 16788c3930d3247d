"""The mean of the n - f vectors with the least spread: SMEA and MVA.

Problem: SMEA averages the subset of m = n-f vectors whose covariance has the smallest largest eigenvalue, MVA the one
    with the smallest variance. What is the smallest kappa, when the spread of the honest vectors is measured by their
    variance (the trace of the covariance) or by its largest eigenvalue?
Statement (ours): 4f/(n-2f) for SMEA by either, and for MVA by the variance.
Proof. Let T be the subset that is averaged, r <= f the number of vectors in S and not in T, c the mean of the m - r
    in both, p that of the r in S only, q that of the r in T only. F - mean = (r/m)(q - p). Along any direction, and
    in all, the variance of S is at least r(m-r)/m^2 (p - c)^2, that of T at least r(m-r)/m^2 (q - c)^2. SMEA: along F
    - mean both are at most the largest eigenvalue of S, for that of T is no larger. MVA: in all directions both are
    at most the variance of S. So, with p, q and c for their components along F - mean for SMEA, |F - mean| <=
    (r/m)(|p - c| + |q - c|) <= 2 (r/(m-r))^(1/2) times the root of the spread of S, and r/(m-r) <= f/(n-2f). The
    largest eigenvalue is at most the variance, so this holds for SMEA by the variance, too. It is approached on a
    line: f vectors of S at -1, n-2f at 0, the Byzantine ones just short of 1. The subsets with all zeros and, of the
    rest, a at -1 and b at 1 have variance f/m - ((b-a)/m)^2, least where a or b is 0, and those with fewer zeros have
    more; so T is the zeros and the Byzantine ones, the mean moves from -f/m to f/m, and the spread of S is
    f(n-2f)/m^2.
Computed: the algebra with sympy; that no subset has less spread on that line, by going through all; the ratio by the
    rules, for both criteria; for MVA certificates.
Reference: kappaguard. The paper has SMEA with a bound of this order under the largest eigenvalue.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from kappaguard.rules.witness import Witness
from kappaguard.search.exact.least_spread import worst_input
from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled


def _algebra(kappa: Term) -> None:
    """The steps of the proof, for all sizes."""
    f, more, r, less, apart, other = symbols("f more r less apart other")
    m = f + more
    n = m + f
    total = r * apart + (m - r) * other
    between = (r * apart**2 + (m - r) * other**2) / m - (total / m) ** 2
    demand(equal(between, r * (m - r) / m**2 * (apart - other) ** 2), "the variance between two groups")
    demand(equal((2 * r / m) ** 2 * m**2 / (r * (m - r)), 4 * r / (m - r)), "the square of the bound")
    stated = kappa.symbolic(n, f)
    demand(nonnegative((stated - 4 * r / (m - r)).subs(f, r + less)), "r = f is the worst")
    demand(equal((2 * f / m) ** 2 / (f * (m - f) / m**2), 4 * f / (m - f)), "the ratio on the line")


def _variance(values: tuple[Fraction, ...]) -> Fraction:
    """The variance of numbers."""
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def witness(rule: str, n: int, f: int, criterion: str = "trace") -> Witness:
    """The input on the line, as the rule evaluates it."""
    return settled(rule, f, worst_input(n, f), criterion=criterion)


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra; subsets, ratios and certificates over a grid."""
    _algebra(kappa)
    pairs = grid(effort, 6, 9, 12)
    for done, (n, f) in enumerate(pairs, start=1):
        line = [row[0] for row in worst_input(n, f)]
        chosen = _variance(tuple(line[: n - 2 * f] + line[n - f :]))
        if n <= 9:
            demand(all(chosen <= _variance(each) for each in combinations(line, n - f)), "the Byzantine ones are taken")
        value = kappa(n, f)
        ratios = [witness("smea", n, f), witness("mva", n, f), witness("smea", n, f, "spectral")]
        for found in ratios:
            demand(value * (1 - AGREES) <= found.lower <= value, f"{found.rule} at n = {n}, f = {f}")
        proved = kappa_star("mva", n, f).upper
        assert proved is not None
        demand(value <= proved <= value * (1 + AGREES), f"the certificate of mva at n = {n}, f = {f}")
        report(done, len(pairs))
    shown = witness("smea", 17, 4)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(kappa(17, 4)),
        f"The line comes within a millionth at all {len(pairs)} pairs tried, for SMEA by both criteria; the "
        "certificates of MVA agree. Shown: SMEA at n = 17, f = 4.",
        witness=shown,
    )


CLAIM = Claim(
    "closed-form-smea",
    "kappa*(SMEA) = kappa*(MVA) = {kappa}; for SMEA also if the spread is the largest eigenvalue of the covariance",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term("4*f/(n-2*f)", 0)},
)
