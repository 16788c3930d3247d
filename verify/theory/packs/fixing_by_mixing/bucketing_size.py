"""How large a bucket may be.

Problem: Bucketing with size s in front of some rule, f Byzantine vectors; is there a finite kappa for the worst
    permutation?
Statements: (1) a worst-case guarantee needs s <= floor(n/(2f)). (2) s = floor(n/(2f)), which the paper and
    Karimireddy et al. use, is small enough. (3) Ours: a guarantee exists if and only if ceil(n/s) > 2f, that is s <=
    ceil(n/(2f)) - 1.
Computed: with b = ceil(n/s) <= 2f buckets no rule behind can do it. If all honest vectors are 0, the means of f buckets
    can be made 1, and the others are 0; if all honest vectors are 1, the means of these others, at most f, can be made
    0: the same b means, and the output has to be 0 and 1. Both inputs are built and bucketed in exact arithmetic. (1)
    follows, since s > n/(2f) gives b <= 2f. (2) fails exactly if 2f divides n: then b = 2f. Witness: n = 4, f = 1,
    s = 2 in front of CWMed has an infinite ratio. In the paper's experiments n = 17 is not divisible by 2f. (3) If
    b > 2f, some b - f buckets are purely honest. All honest vectors are within sqrt(m V) of their mean, and so are
    these bucket means; hence F behind, (f, kappa)-robust on b vectors, has an error of at most 2 kappa m V + 2 m V.
Reference: appendix C, after the second observation.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.bucketing import Bucketing
from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.worst import settled


def safe(n: int, f: int, s: int) -> bool:
    """Whether the honest buckets are the majority, wherever the Byzantine vectors are."""
    return -(-n // s) > 2 * f


def confused(n: int, f: int, s: int) -> bool:
    """Whether one list of bucket means comes from honest vectors that are all 0, and from ones that are all 1."""
    import numpy as np

    rule = Bucketing(f=f, s=s, permutation=tuple(range(n)))
    zeros, ones = (np.full((n, 1), Fraction(value), dtype=object) for value in (0, 1))
    starts = list(range(0, n, s))
    for place, start in enumerate(starts):
        size = min(s, n - start)
        if place < f:
            zeros[start, 0] = Fraction(size)
        else:
            ones[start, 0] = Fraction(1 - size)
    return len(starts) - f <= f and bool(np.all(rule(zeros) == rule(ones)))


def check_necessary(effort: Effort, report: Report) -> Finding:
    """No larger size is safe."""
    for n in range(3, 13):
        for f in range(1, (n + 1) // 2):
            for s in range(n // (2 * f) + 1, n + 1):
                demand(confused(n, f, s), f"the two inputs at n = {n}, f = {f}, s = {s}")
    most = effort.choose(100, 300, 1000)
    for n in range(3, most + 1):
        for f in range(1, (n + 1) // 2):
            demand(
                not safe(n, f, n // (2 * f) + 1), f"s = floor(n/2f) + 1 leaves at most 2f buckets at n = {n}, f = {f}"
            )
        report(n, most)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(max(s for s in range(1, 18) if safe(17, 4, s))),
        float(17 // 8),
        "A larger s leaves at most 2f buckets, and one list of bucket means is then possible with all honest "
        "vectors at 0 and with all at 1. Shown: the largest safe s at n = 17, f = 4.",
    )


def check_sufficient(_effort: Effort, _report: Report) -> Finding:
    """n = 4, f = 1: two buckets of two, one of them contaminated."""
    rule = "bucketing(s=2, permutation=(0, 1, 2, 3))+cwmed"
    witness = settled(rule, 1, [[0], [0], [0], [2]])
    demand(witness.lower == float("inf") and not safe(4, 1, 2), "an infinite ratio")
    return Finding(
        "refuted",
        ("exact", "symbolic"),
        float("inf"),
        None,
        "If 2f divides n, s = n/(2f) leaves exactly 2f buckets, half of them contaminated: at n = 4, f = 1 three "
        "honest zeros and a Byzantine 2 give the output 1/2. At n = 17 this does not happen.",
        witness=witness,
    )


def check_exact(effort: Effort, _report: Report) -> Finding:
    """The largest safe size is ceil(n/(2f)) - 1, and at it the built-in rules have finite ratios on the bad input."""
    for n in range(3, effort.choose(100, 300, 1000) + 1):
        for f in range(1, (n + 1) // 2):
            largest = max((s for s in range(1, -(-n // (2 * f)) + 2) if safe(n, f, s)), default=0)
            demand(largest == -(-n // (2 * f)) - 1, f"the largest safe size at n = {n}, f = {f}")
    _sufficient()
    for n, f in [(4, 1), (8, 2), (9, 2), (17, 4)]:
        s = -(-n // (2 * f)) - 1
        rule = f"bucketing(s={s}, permutation={tuple(range(n))})+cwmed"
        # each Byzantine vector in a bucket of its own
        bad = {s * place for place in range(f)}
        x = [[2] if place in bad else [0] for place in range(n)]
        witness = settled(rule, f, x, [place for place in range(n) if place not in bad])
        demand(witness.upper == 0, f"equal honest vectors are returned at n = {n}, f = {f}, s = {s}")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(max(s for s in range(1, 18) if safe(17, 4, s))),
        float(-(-17 // 8) - 1),
        "ceil(n/s) > 2f holds exactly for s <= ceil(n/(2f)) - 1. Shown: n = 17, f = 4.",
        "==",
    )


def _sufficient() -> None:
    """b > 2f buckets: the b - f honest means are within m V of the mean, and a robust rule behind stays near them."""
    import numpy as np
    import sympy

    m, variance, kappa, error, bias = sympy.symbols("m V kappa error bias", nonnegative=True)
    # sum over S of ||x_i - mean||^2 = m V bounds each term, hence (convexity) every mean of honest ones: bias^2 <= m V,
    # and the variance of the honest buckets; (error + bias)^2 <= 2 error^2 + 2 bias^2
    demand(equal(2 * error**2 + 2 * bias**2 - (error + bias) ** 2, (error - bias) ** 2), "the two errors together")
    bound = 2 * kappa * m * variance + 2 * m * variance
    worst = 2 * error**2 + 2 * bias**2
    demand(
        equal(worst.subs({error: sympy.sqrt(kappa * m * variance), bias: sympy.sqrt(m * variance)}), bound), "finite"
    )
    for n, f, s in [(9, 2, 2), (17, 4, 2), (10, 1, 4)]:
        # random whole numbers: the honest buckets' means stay in the ball, whoever is Byzantine
        generator = np.random.default_rng(n)
        for _ in range(50):
            values = [Fraction(int(value)) for value in generator.integers(-9, 10, size=n)]
            byzantine = set(generator.choice(n, size=f, replace=False).tolist())
            honest = [values[i] for i in range(n) if i not in byzantine]
            centre = sum(honest, Fraction(0)) / len(honest)
            radius = sum(((value - centre) ** 2 for value in honest), Fraction(0))
            starts = [start for start in range(0, n, s) if not byzantine & set(range(start, min(start + s, n)))]
            means = [sum(values[start : start + s], Fraction(0)) / len(values[start : start + s]) for start in starts]
            demand(len(means) >= -(-n // s) - f, "at least b - f buckets are honest")
            demand(all((mean - centre) ** 2 <= radius for mean in means), "and near the mean")


CLAIMS = (
    Claim(
        "bucketing-size",
        "a worst-case guarantee needs a bucket size of at most floor(n/(2f))",
        "appendix C, after the second observation",
        "proved",
        check_necessary,
        scope="instances",
    ),
    Claim(
        "bucketing-size-sufficient",
        "the size floor(n/(2f)) that is used gives a worst-case guarantee for all f < n/2",
        "appendix C, after the second observation (implied)",
        "refuted",
        check_sufficient,
        kind="reading",
    ),
    Claim(
        "bucketing-size-corrected",
        "a worst-case guarantee exists if and only if s <= ceil(n/(2f)) - 1",
        "kappaguard",
        "proved",
        check_exact,
        corrects="bucketing-size-sufficient",
        scope="instances",
    ),
)
