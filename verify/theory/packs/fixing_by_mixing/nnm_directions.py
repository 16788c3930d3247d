"""How far NNM can displace honest vectors in given directions; kappa* of the median behind it, in every dimension.

Problem: y = NNM(x), S of size m = n-f, mean and V of x over S.
Statements (ours):
    (1) for any vectors p_i, one for each i in S, with A_c the sum of the positive and B_c that of the negative
    entries p_ic
        in some orthonormal basis, (m sum <p_i, y_i - mean>)^2 <= 4 f m V (f sum |p_i|^2 + sum over c of (A_c^2 +
        B_c^2)).
    (2) kappa*(CWMed after NNM) = 4 f (f+k)/(k m), with k = floor(n/2)+1-f, in every dimension.
    (3) F after NNM is (f, kappa')-robust with kappa' <= 4 f/m^2 (n + (n+f)/2 kappa), if F is (f, kappa)-robust: less
    than
        the 4 f/m (kappa+1) of the sharp Lemma 1 if kappa > 2f/(n-3f) > 0, and half of it in the limit of many workers
        and a large kappa.
Proof of (1): the docstring of ``verify/judge/mixed.py``.
Proof of (2). Let M be output minus mean. In a coordinate with M_c > 0, k honest workers have M_c <= the mean of their
y_ic
    - mean_c: for odd n at least (n+1)/2 of all y_jc are at least the median. For even n, with u <= v the two in the
    middle, k-1 honest ones are at least v and one more at least u, and k >= 2. With p_ic = M_c for these k and 0 for
    others k |M|^2 <= sum <p_i, y_i - mean>, sum |p_i|^2 = k |M|^2 and A_c^2 = k^2 M_c^2, so (m k |M|^2)^2 <= 4 f m V
    (f k + k^2) |M|^2. Coordinates with M_c < 0 are mirrored, so one of A_c, B_c is 0. It is approached on a line
    (claim nnm-cwmed-line).
Proof of (3). Take p_i = u + w_i with w_i of sum zero. In a coordinate A - B = m u_c and A + B <= (m sum
p_ic^2)^(1/2), so
    A^2 + B^2 <= (m sum p_ic^2 + m^2 u_c^2)/2, and the bracket in (1) is at most n m |u|^2 + (n+f)/2 sum |w_i|^2. With
    u = m (ybar - mean)/n and w_i = 2 m/(n+f) (y_i - ybar) this says, for the bias |ybar - mean|^2 and the variance W
    of y, m/n bias + 2 m/(n+f) W <= 4 f/m V. And by Cauchy ((kappa W)^(1/2) + bias^(1/2))^2 is at most the left side
    times kappa (n+f)/(2m) + n/m.
Computed: the algebra of (1), (2) and (3) with sympy; (1) on inputs with small whole numbers, in exact arithmetic, and
the
    input that leaves no room in it; certificates of (2), and witnesses; (3) against witnesses.
Reference: kappaguard; sharpens lem:cenna-reduction.
"""

from __future__ import annotations

import random
from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.packs.fixing_by_mixing.nnm_median_line import worst_line
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled

NEAR = Fraction(1, 10**5)
Rows = list[list[Fraction]]


def mixed(x: Rows, f: int) -> Rows:
    """The mean of the n - f vectors nearest to each, ties to the lower index."""
    m = len(x) - f

    def mean_near(centre: list[Fraction]) -> list[Fraction]:
        near = sorted(x, key=lambda other: sum((a - b) ** 2 for a, b in zip(other, centre, strict=True)))[:m]
        return [sum(column, Fraction(0)) / m for column in zip(*near, strict=True)]

    return [mean_near(centre) for centre in x]


def share(x: Rows, directions: Rows, f: int) -> Fraction:
    """(m sum <p_i, y_i - mean>)^2 over f m V (f sum |p_i|^2 + sum of A_c^2 + B_c^2)."""
    m = len(x) - f
    mean = [sum(column[:m], Fraction(0)) / m for column in zip(*x, strict=True)]
    total = sum(
        p * (value - centre)
        for row, direction in zip(mixed(x, f)[:m], directions, strict=True)
        for p, value, centre in zip(direction, row, mean, strict=True)
    )
    spread = sum((value - centre) ** 2 for row in x[:m] for value, centre in zip(row, mean, strict=True))
    size = f * sum((p * p for direction in directions for p in direction), Fraction(0))
    for column in zip(*directions, strict=True):
        size += sum(max(p, Fraction(0)) for p in column) ** 2 + sum(min(p, Fraction(0)) for p in column) ** 2
    return (m * total) ** 2 / (f * spread * size) if spread and size else Fraction(0)


def check_directions(effort: Effort, report: Report, factor: Term) -> Finding:
    """The steps of the proof, random inputs of whole numbers, and one that leaves no room."""
    length, along, other, angle = symbols("length along other angle")
    # |b - x_i| <= |b - x_i - (x_a - x_i)| with u = <x_i - b, e_a>: length^2 + 2 length u >= 0, so u >= - length / 2
    demand(
        equal((length**2 + 2 * length * (along - length / 2)) / (2 * length), along), "u + length/2 is never negative"
    )
    demand(nonnegative(factor.symbolic() * (along + length / 2) ** 2 - length**2), "length <= 2 <x_i - x_a, e_a>")
    demand(equal((other * angle + length) - other * angle, length), "an obtuse edge is that long exactly")
    scale, into, cut, less = symbols("scale into cut less")
    # s t + k = t and t' = t - less
    crossed = scale * (into - less) * (scale * (into - less) + cut)
    crossed = crossed.subs(cut, into - scale * into)
    demand(equal(into**2 * scale - crossed - scale * into * less, scale**2 * less * (into - less)), "|G|^2 is bounded")
    pairs = grid(effort, 7, 9, 13)
    for n, f in pairs:
        k = n // 2 + 1 - f
        ones = [[Fraction(int(f <= i < f + k))] for i in range(n - f)]
        reached = share(worst_line(n, f), ones, f)
        demand(factor() * (1 - NEAR) <= reached <= factor(), f"nothing is left at n = {n}, f = {f}")
    generator, tried, largest = random.Random(20), 0, Fraction(0)
    for _ in range(effort.choose(300, 3000, 30000)):
        n, f = generator.choice([(3, 1), (4, 1), (5, 2), (6, 2), (7, 3)])
        d = generator.choice([1, 2, 3])
        x = [[Fraction(generator.randint(-3, 3)) for _ in range(d)] for _ in range(n)]
        y = [[Fraction(generator.randint(-2, 2)) for _ in range(d)] for _ in range(n - f)]
        largest = max(largest, share(x, y, f))
        tried += 1
    demand(largest <= factor(), "random inputs")
    report(1, 1)
    n, f = 17, 4
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(share(worst_line(n, f), [[Fraction(int(4 <= i < 9))] for i in range(13)], f)),
        float(factor()),
        f"The constant is approached at all {len(pairs)} pairs (n, f) tried; {tried} random inputs of whole numbers "
        f"reach {float(largest):.3f}. Shown: n = 17, f = 4.",
    )


def check_median(effort: Effort, report: Report, kappa: Term) -> Finding:
    """The algebra, the certificates and the witnesses."""
    import sympy

    f, k, m, error = sympy.symbols("f k m error", positive=True)
    demand(equal(4 * f * m * (f * k + k**2) * error / (m * k * error) ** 2 * error, 4 * f * (f + k) / (k * m)), "(2)")
    low, high, extra = symbols("low high extra")
    pair = (extra + 1) * (low + high) + low - (extra + 2) * (low + low + high) / 2
    demand(nonnegative(pair), "k-1 at least v and one at least u: the mean of k is at least (u+v)/2 for k >= 2")
    size, bad = sympy.symbols("n f", integer=True, positive=True)
    stated = (4 * f * (f + k) / (k * m)).subs(
        {m: size - bad, k: sympy.floor(size / 2) + 1 - bad, f: bad}, simultaneous=True
    )
    demand(equal(stated, kappa.symbolic(size, bad)), "which is what is stated")
    pairs = grid(effort, 9, 17, 33)
    for done, (n, faulty) in enumerate(pairs):
        result = kappa_star("nnm+cwmed", n, faulty)
        demand(result.upper == kappa(n, faulty), f"the certificate at n = {n}, f = {faulty}")
        demand(result.lower >= kappa(n, faulty) * (1 - NEAR), f"the witness at n = {n}, f = {faulty}")
        report(done + 1, len(pairs))
    result = kappa_star("nnm+cwmed", 17, 4)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(result.lower),
        float(kappa(17, 4)),
        f"Certificate and witness meet at all {len(pairs)} pairs (n, f) tried. Shown: n = 17, f = 4.",
        witness=result.witness,
    )


def check_lemma(effort: Effort, report: Report, bias: Term, variance: Term) -> Finding:
    """The algebra of (3), and no witness above it."""
    import sympy

    n, f, kappa = sympy.symbols("n f kappa", positive=True)
    m = n - f
    demand(equal(f + m, bias.symbolic(n, f)), "what the common part of the directions costs")
    demand(equal(f + m / 2, variance.symbolic(n, f)), "and what the rest costs")
    squares, level = sympy.symbols("squares level", positive=True)
    above, below = (squares + m * level) / 2, (squares - m * level) / 2
    demand(equal(above**2 + below**2, (squares**2 + m**2 * level**2) / 2), "A^2 + B^2")
    left, right = m / bias.symbolic(n, f), m / variance.symbolic(n, f)
    stated = 4 * f / m**2 * (bias.symbolic(n, f) + variance.symbolic(n, f) * kappa)
    demand(equal(4 * f / m * (1 / left + kappa / right), stated), "Cauchy")
    before = 4 * f / m * (kappa + 1)
    demand(equal(before - stated, 4 * f / m**2 * (kappa * (n - 3 * f) / 2 - f)), "where it is less than Lemma 1's")
    closest = Fraction(0)
    pairs = [(size, bad) for size, bad in grid(effort, 7, 9, 13) if size > 3 * bad]
    for done, (size, bad) in enumerate(pairs):
        for rule in ("cwmed", "meamed", "gm", "mda", "krum"):
            upper = kappa_star(rule, size, bad).upper
            assert isinstance(upper, Fraction)
            bound = Fraction(4 * bad, (size - bad) ** 2) * (bias(size, bad) + variance(size, bad) * upper)
            reached = settled(f"nnm+{rule}", bad, worst_line(size, bad)).lower
            demand(reached <= bound, f"nnm+{rule} at n = {size}, f = {bad}")
            closest = max(closest, Fraction(reached) / bound)
        report(done + 1, len(pairs))
    upper = kappa_star("krum", 17, 4).upper
    assert isinstance(upper, Fraction)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(Fraction(16, 169) * (bias(17, 4) + variance(17, 4) * upper)),
        float(Fraction(16, 13) * (upper + 1)),
        f"Witnesses reach {float(closest):.2f} of it. Shown: NNM+Krum at n = 17, f = 4, beside the bound of Lemma 1.",
        "<=",
    )


CLAIMS = (
    Claim(
        "nnm-directions",
        "after NNM, (m sum of <p_i, y_i - mean>)^2 <= {factor} f m V (f sum |p_i|^2 + sum over c of (A_c^2 + B_c^2)), "
        "and {factor} is the best constant",
        "kappaguard",
        "proved",
        check_directions,
        scope="algebra",
        terms={"factor": Term("4", 0)},
    ),
    Claim(
        "closed-form-nnm-cwmed",
        "kappa*(CWMed after NNM) = {kappa} in every dimension",
        "kappaguard",
        "proved",
        check_median,
        scope="algebra",
        terms={"kappa": Term(OURS["meamed"].expression, 0)},
    ),
    Claim(
        "lemma-1-nnm-directions",
        "F after NNM is (f, kappa')-robust with kappa' <= 4f/(n-f)^2 ({bias} + {variance} kappa)",
        "kappaguard",
        "proved",
        check_lemma,
        scope="algebra",
        terms={"bias": Term("n", 0), "variance": Term("(n+f)/2", 0)},
    ),
)
