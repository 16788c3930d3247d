"""ARC in front of a rule, and kappa* of the trimmed mean behind it.

Problem: ARC scales the k = floor(2f(n-f)/n) longest vectors down to the length of the next one. m = n-f.
Statements: if F is (f, kappa)-robust, F behind ARC is (f, kappa')-robust with (1) kappa' = kappa + 2f/(n-2f); (2)
    kappa' = 3 kappa. (3) Ours: kappa' = kappa + k/(m-k), which is (1) where n divides 2f(n-f), and less elsewhere. (4)
    Ours: kappa*(CWTM after ARC) = f/(n-2f) + k/(m-k), so that (3) is best possible, and the 3 of (2), too.
Proof of (3). Let y_i be the clipped honest vectors, C the length to which they are clipped (if it is 0, all y_i are,
    and V(y) = 0), c <= k the number of those that are, d_i = x_i - y_i, which has the direction of y_i, dbar its mean
    over S. <y_i - mean y, d_i> >= |d_i| (C - |mean y|) >= 0, and the mean of |d_i|^2 is at least m/c |dbar|^2, for
    only c of them are not 0. So V(x) >= V(y) + (m/c - 1) |dbar|^2, and |F - mean x| <= (kappa V(y))^(1/2) + (c/(m-c)
    (V(x) - V(y)))^(1/2), squared at most (kappa + c/(m-c)) V(x) by Cauchy. (1): k <= 2fm/n, and (2fm/n)/(m - 2fm/n) =
    2f/(n-2f). (2): kappa >= f/(n-2f).
Proof of (4). At most that by (3) with kappa*(CWTM) = f/(n-2f). At least: in R^m let each worker i of S have f of the
    m entries -(m-f), those of f consecutive coordinates from i on, and f in the others: its entries add up to 0, and
    in every coordinate f workers have -(m-f). Add -L in all coordinates, and another -s for k of the workers; s = m
    (m-f)/(m-k). The Byzantine vectors have f - L everywhere. For L to infinity ARC takes away the -s and nothing
    else: the k workers are longer by s sqrt(m) + O(1/L), all other honest vectors have one length, the Byzantine ones
    are shorter. CWTM trims all that does not tend to f - L. The error is f + ks/m in every coordinate. In the sum
    over the coordinates y and d do not mix, as y adds up to 0, so m V = m (m f (m-f) + s^2 k(m-k)/m), and the ratio
    is (f + k s/m)^2 / (f(m-f) + s^2 k(m-k)/m^2) = f/(m-f) + k/(m-k) with that s.
Computed: the algebra with sympy; the inequality between the variances on random inputs; the input of (4), as the rules
    evaluate it, over a grid.
Reference: arXiv 2405.14432, its theorem on ARC; (3) and (4) kappaguard.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kappaguard.rules.witness import Witness
from kappaguard.search.exact.arc import worst_input
from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, settled

NEAR = Fraction(1, 10**6)
ROUNDED = 1e-12
CLIPPED = "floor(2*f*(n-f)/n)"
BIAS = f"{CLIPPED}/(n-f-{CLIPPED})"


def witness(n: int, f: int) -> Witness:
    """The input of (4) as the rules evaluate it."""
    return settled("arc+cwtm", f, worst_input(n, f))


def check_robust(effort: Effort, report: Report, bias: Term) -> Finding:
    """Algebra, random inputs, and the input that leaves no room where n divides 2f(n-f)."""
    more, f = symbols("more f")
    m = f + more
    size = m + f
    share = 2 * f * m / size
    demand(equal(share / (m - share), bias.symbolic(size, f)), "the most that are clipped give (1)")
    first, second, inside, outside = symbols("first second inside outside")
    room = (first + second) * (inside**2 / first + outside**2 / second) - (inside + outside) ** 2
    demand(equal(room, (second * inside - first * outside) ** 2 / (first * second)), "Cauchy")
    _variances(effort.choose(200, 1000, 10000))
    pairs = [(9, 3), (8, 2), (16, 4), (18, 6)]
    for done, (count, bad) in enumerate(pairs, start=1):
        found = witness(count, bad).lower
        stated = Fraction(bad, count - 2 * bad) + bias(count, bad)
        demand(found <= stated, f"the input is within (1) at n = {count}, f = {bad}")
        demand(found >= stated * (1 - NEAR), f"and leaves no room at n = {count}, f = {bad}")
        report(done, len(pairs))
    shown = witness(9, 3)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(1 + bias(9, 3)),
        "Attained by CWTM in the limit of inputs far from the origin, where n divides 2f(n-f); in general k/(n-f-k) "
        "with k = floor(2f(n-f)/n) will do (claim closed-form-arc-cwtm). Shown: n = 9, f = 3.",
        witness=shown,
    )


def _variances(tried: int) -> None:
    """V(x) >= V(y) + (m/c - 1) |mean d|^2 for vectors that are clipped."""
    random = np.random.default_rng(3)
    for _ in range(tried):
        m, d = int(random.integers(2, 9)), int(random.integers(1, 4))
        x = random.standard_normal((m, d)) + random.choice([0.0, 1.0, 30.0]) * random.standard_normal(d)
        c = int(random.integers(1, m))
        lengths = np.linalg.norm(x, axis=1)
        limit = np.sort(lengths)[m - c - 1]
        y = x * np.minimum(1.0, limit / lengths)[:, None]
        spread = ((x - x.mean(axis=0)) ** 2).sum() / m
        inside = ((y - y.mean(axis=0)) ** 2).sum() / m
        moved = ((x - y).mean(axis=0) ** 2).sum()
        demand(spread >= inside + (m / c - 1) * moved - ROUNDED * float(lengths.max()) ** 2, "the variances")


def check_three(effort: Effort, report: Report, factor: Term) -> Finding:
    """(2) follows from (1), and CWTM leaves no room."""
    f, more = symbols("f more")
    n = 2 * f + more
    demand(equal(f / (n - 2 * f) + 2 * f / (n - 2 * f), 3 * f / (n - 2 * f)), "(1) at the least kappa")
    extra = symbols("extra")
    kappa = f / (n - 2 * f) + extra
    demand(nonnegative(factor.symbolic() * kappa - kappa - 2 * f / (n - 2 * f)), "3 kappa is no less for larger ones")
    pairs = effort.choose([(9, 3)], [(9, 3), (8, 2)], [(9, 3), (8, 2), (18, 6)])
    for done, (count, bad) in enumerate(pairs, start=1):
        demand(witness(count, bad).lower <= factor() * Fraction(bad, count - 2 * bad), "the input is within (2)")
        report(done, len(pairs))
    shown = witness(9, 3)
    stated = factor() * Fraction(3, 9 - 6)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(stated),
        "3 is best possible: CWTM has kappa* = f/(n-2f), and three times that behind ARC where n divides 2f(n-f). "
        "Shown: n = 9, f = 3.",
        witness=shown,
    )


def check_closed(effort: Effort, report: Report, alone: Term, bias: Term) -> Finding:
    """The algebra of (4), and its input over a grid."""
    f, k, more, rest = symbols("f k more rest")
    m = f + k + more + rest
    s = m * (m - f) / (m - k)
    ratio = (f + k * s / m) ** 2 / (f * (m - f) + s**2 * k * (m - k) / m**2)
    demand(equal(ratio, f / (m - f) + k / (m - k)), "the ratio with the best s")
    pairs = [pair for pair in grid(effort, 6, 9, 13) if pair[0] > 2]
    for done, (n, bad) in enumerate(pairs, start=1):
        value = alone(n, bad) + bias(n, bad)
        found = witness(n, bad).lower
        demand(value * (1 - NEAR) <= found <= value, f"the input at n = {n}, f = {bad}")
        report(done, len(pairs))
    shown = witness(17, 4)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(shown.lower),
        float(alone(17, 4) + bias(17, 4)),
        f"The input comes within a millionth at all {len(pairs)} pairs tried. Shown: n = 17, f = 4, where three times "
        "kappa* of CWTM is 4/3.",
        witness=shown,
    )


CLAIMS = (
    Claim(
        "arc-robust",
        "F after ARC is (f, kappa + {bias})-robust if F is (f, kappa)-robust",
        "arXiv 2405.14432, theorem on ARC",
        "proved",
        check_robust,
        scope="algebra",
        terms={"bias": Term("2*f/(n-2*f)", -1)},
    ),
    Claim(
        "arc-three-kappa",
        "F after ARC is (f, {factor} kappa)-robust if F is (f, kappa)-robust",
        "arXiv 2405.14432, theorem on ARC",
        "proved",
        check_three,
        scope="algebra",
        terms={"factor": Term("3", -1)},
    ),
    Claim(
        "closed-form-arc-cwtm",
        "kappa*(CWTM after ARC) = {alone} + {bias}",
        "kappaguard",
        "proved",
        check_closed,
        scope="algebra",
        terms={"alone": Term("f/(n-2*f)", 0), "bias": Term(BIAS, 0)},
    ),
)
