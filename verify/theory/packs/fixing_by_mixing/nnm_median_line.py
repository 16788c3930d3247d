"""kappa* of the median behind NNM on the line.

Problem: the smallest kappa for which CWMed after NNM is (f, kappa)-robust in dimension 1, where the geometric median
    for odd n is the same rule.
Statement (ours): kappa = 4 f (f+k)/(k m), with k = floor(n/2)+1-f and m = n-f: as that of MeaMed; a supremum that is
    not attained.
Proof. Let h_1 >= ... >= h_m be the honest values, L the f smallest of them, y the mixed values, M their median. For an
    honest i let Q be the honest values that its neighbourhood leaves out and R the Byzantine ones that it takes in, as
    many. Pair them: |b - x_i| <= |a - x_i|, so b - a <= 0 if a >= x_i, and b - a <= 2 (x_i - a) else. Hence
        m (y_i - mean) = sum of R - sum of Q <= 2 sum over a in Q below x_i of (x_i - a) <= 2 sum over a in L of
        max(x_i - a, 0),
    which grows with x_i. For odd n at least (n+1)/2 values y_j are at least M, so at least k of them are honest, and
    one of k honest workers has x_i <= h_k. As k + f <= m, h_k is at least every a in L, and m (M - mean) <= 2 (f h_k -
    sum of L). For even n, M is the mean of two values, bounded in this way with k-1 and with k: m (M - mean) <=
    f (h_(k-1) + h_k) - 2 sum of L, and k >= 2. The mean of h_1 .. h_k is at least h_k, and at least
    (h_(k-1) + h_k)/2. So in both cases m (M - mean) <= sum p_i h_i with p = 2f/k (k times), 0, -2 (f times), of sum 0,
    and Cauchy gives |p|^2/m. The other side is the mirror image.
    Approached by f honest values at -1/f, k at 1/k, the others at 0 and the Byzantine ones just below 2/k + 1/f: the k
    and the f have the same neighbours, all but those at -1/f, and are more than n/2.
    In more dimensions the neighbours are the same for all coordinates but the k workers are not: claim
    closed-form-nnm-cwmed has the proof for these, by other means.
Computed: norm, sum, counts and the witness's limit with sympy; the witness, and all inputs from a small lattice (which
    know nothing of the proof), in exact arithmetic.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

from kappaguard.verify.theory.algebra import demand, equal, nonnegative
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, settled

OFF = Fraction(1, 10**8)
"""How far the Byzantine values of the witness stay off the tie."""


def worst_line(n: int, f: int) -> list[list[Fraction]]:
    """The input of the docstring."""
    k = n // 2 + 1 - f
    honest = [Fraction(-1, f)] * f + [Fraction(1, k)] * k + [Fraction(0)] * (n - 2 * f - k)
    return [[value] for value in honest + [Fraction(2, k) + Fraction(1, f) - OFF] * f]


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra, the witness at every (n, f), and a lattice of inputs."""
    import sympy

    m, k, f, extra = sympy.symbols("m k f extra", positive=True)
    demand(equal(k * (2 * f / k) - 2 * f, 0), "p sums to zero")
    demand(equal((k * (2 * f / k) ** 2 + 4 * f) / m, 4 * f * (f + k) / (k * m)), "its norm gives kappa")
    demand(nonnegative(((k - 2) / 2).subs(k, extra + 2)), "the two smallest of k are at most their mean")
    output = (k * (1 / k) + f * (2 / k + 1 / f)) / m
    spread = (1 / k + 1 / f) / m
    demand(equal(output**2 / spread, 4 * f * (f + k) / (k * m)), "the limit of the witness")
    size, bad = sympy.symbols("n f", integer=True, positive=True)
    named = {m: size - bad, k: sympy.floor(size / 2) + 1 - bad, f: bad}
    stated = (4 * f * (f + k) / (k * m)).subs(named, simultaneous=True)
    demand(equal(stated, kappa.symbolic(size, bad)), "which is what is stated")
    pairs = grid(effort, 9, 13, 17)
    for n, faulty in pairs:
        demand(n // 2 + 1 <= n - faulty, "k + f <= m")
        reached = settled("nnm+cwmed", faulty, worst_line(n, faulty)).lower
        demand(kappa(n, faulty) * (1 - 100 * n * OFF) <= reached <= kappa(n, faulty), f"attained at {n}, {faulty}")
    report(1, 2)
    tried = sum(_lattice(n, faulty, width, kappa) for n, faulty, width in effort.choose(*SIZES))
    report(2, 2)
    witness = settled("nnm+cwmed", 4, worst_line(17, 4))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(witness.lower),
        float(kappa(17, 4)),
        f"The witness comes near it at all {len(pairs)} pairs (n, f) tried, and none of {tried} inputs with small "
        "whole numbers is above it. Shown: n = 17, f = 4.",
        witness=witness,
    )


SIZES = (((3, 1, 6), (4, 1, 5)), ((3, 1, 10), (4, 1, 7), (5, 1, 5), (5, 2, 5)), ((3, 1, 14), (5, 2, 8), (6, 2, 7)))
"""n, f and the largest number on the lattice, by effort."""


def _lattice(n: int, f: int, width: int, kappa: Term) -> int:
    """How many inputs of whole numbers were seen, none above the stated value."""
    tried = 0
    for honest in combinations_with_replacement(range(width + 1), n - f):
        if len(set(honest)) == 1:
            continue
        for byzantine in combinations_with_replacement(range(-width, 2 * width + 1), f):
            tried += 1
            ratio = settled("nnm+cwmed", f, [[value] for value in honest + byzantine]).lower
            demand(ratio <= kappa(n, f), f"{honest} with {byzantine}")
    return tried


CLAIM = Claim(
    "nnm-cwmed-line",
    "In dimension 1, kappa*(CWMed after NNM) = {kappa}",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["meamed"].expression, 0)},
)
