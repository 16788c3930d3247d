"""kappa* of Krum when n >= 3f.

Problem: the smallest kappa for which Krum (n - f neighbours, itself included) is (f, kappa)-robust, for n >= 3f.
Statement (ours): kappa*(Krum) >= (n/(n-2f))^2 for all n >= 3f, with equality for f = 1 and n <= 9.
Proof of the lower bound. Let k = n-2f >= f and m = k+f. On a line f honest vectors at -k and k at f (mean 0), these k
    moved apart into a regular simplex around f, in other dimensions, each by the squared distance t = m (k-f); the
    Byzantine ones together just below n. V = (f k^2 + k (f^2 + t))/m = f k + k (k-f) = k^2. With m^2 + t between one
    of the k and any other vector (a trifle less to a Byzantine one) a Byzantine vector has its f-1 copies and the k
    for neighbours, with a score just below k (m^2 + t); a low one the same with k (m^2 + t). One of the k is at the
    squared distance 2 t k/(k-1) from the k-1 others, not more than m^2 + t, because (k-f)(k+1) <= (k+f)(k-1); so these
    and f more are its neighbours, with a score of 2 k t + f (m^2 + t), or a trifle less. That is k (m^2 + t) exactly,
    as t m = m^2 (k-f); with t a little larger it is more. So Krum selects a Byzantine one, and the ratio tends to
    n^2/k^2.
What is open: an upper bound for all n. Certified values for f <= 5 and 3f < n <= 3f+13 (seen once, by ``kappaguard
    exact``) agree with one of three numbers: (n/k)^2 for f = 1 up to n = 9 and f = 2 up to n = 8; then
    (f k^2 + f (5f-2) k + 4 f^2 (f-1))/(k (f k - 1)), for f = 2 from n = 8, f = 3 from 10, f = 4 from 13, f = 5 from 17;
    then (n^2 + (f-1) n - f (2f+3))/(n^2 - (4f+1) n + 2f (2f+3)), for f = 1 from n = 10, f = 2 from 14, f = 3 from 19,
    f = 4 from 24. The exception is (16, 5) with 7.27943, so there are more pieces near 3f. The second and the
    third are not proved.
Computed: the algebra with sympy; the input, with t and the Byzantine vectors off by a trifle, in exact arithmetic;
    certificates for f = 1.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import AGREES
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled

TRIFLE = Fraction(1, 10**8)
SCALE = 10**12


def simplex_above(n: int, f: int) -> list[list[Fraction]]:
    """The input of the proof, the Byzantine vectors first."""
    k = n - 2 * f
    width = k if k > 1 else 0
    # the squared distance of a corner from the centre is side^2 (k-1)/k: side is rounded up
    square = Fraction((n - f) * (k - f) * k, max(1, k - 1))
    side = Fraction(isqrt(int(square * SCALE**2)) + 1, SCALE) if k > f else Fraction(0)
    none = [Fraction(0)] * width
    rows = [[n - n * TRIFLE, *none] for _ in range(f)]
    for corner in range(k):
        rows.append([Fraction(f), *(side * (int(corner == place) - Fraction(1, k)) for place in range(width))])
    return rows + [[Fraction(-k), *none] for _ in range(f)]


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra, the input at several sizes, the certificates for f = 1."""
    f, more = symbols("f more")
    k = f + more
    m, t = k + f, (k + f) * more
    n = m + f
    demand(equal((f * k**2 + k * (f**2 + t)) / m, k**2), "the variance")
    demand(equal(2 * k * t + f * (m**2 + t), k * (m**2 + t)), "the scores are equal")
    one = symbols("one")
    nearer = (k + f) * (k - 1) - more * (k + 1)
    demand(nonnegative(nearer.subs({f: one + 1})), "the corners are no farther apart than the rest is away")
    demand(equal(n**2 / k**2, kappa.symbolic(n, f)), "the ratio in the limit")
    sizes = [(3, 1), (6, 2), (4, 1), (9, 1), (7, 2), (17, 4), (16, 5), (40, 3)]
    for size, bad in sizes + effort.choose([], [(25, 8)], [(25, 8), (80, 20)]):
        witness = settled("krum", bad, simplex_above(size, bad), range(bad, size), found_by="simplex")
        bound = kappa(size, bad)
        demand(bound * (1 - AGREES) <= witness.lower <= bound, f"the input at n = {size}, f = {bad}")
    for done, size in enumerate(range(4, 10)):
        result = kappa_star("krum", size, 1)
        assert result.upper is not None
        demand(result.upper <= kappa(size, 1) * (1 + AGREES), f"the certificate at n = {size}, f = 1")
        report(done + 1, 6)
    shown = settled("krum", 2, simplex_above(7, 2), range(2, 7), found_by="simplex")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(kappa(7, 2)),
        "For f = 1 it is kappa* up to n = 9, by certificates; for larger n and f it is a lower bound. "
        "Shown: n = 7, f = 2.",
        witness=shown,
    )


CLAIM = Claim(
    "krum-wide",
    "kappa*(Krum) >= {kappa} for n >= 3f, with equality for f = 1 and n <= 9",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term("n**2/(n-2*f)**2", 0)},
)
