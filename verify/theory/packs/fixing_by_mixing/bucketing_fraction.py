"""Bucketing raises the fraction of Byzantine inputs.

Problem: f of n vectors are Byzantine; after Bucketing with size s there are b = ceil(n/s) vectors.
Statements: (1) Observation 2: the fraction of Byzantine vectors grows by a factor s in the worst case. (2) Ours: it
    grows by exactly min(f, b) n / (f b), which is s if s divides n and s f <= n, and less otherwise.
Computed: every distribution of f Byzantine vectors over the buckets by counting: they reach any number up to min(f,
    b) of buckets. (1) is too much at n = 17, s = 2 (the paper's f = 4): 17/9 = 1.89; and where all buckets are hit (n
    = 9, s = 3, f = 4: 9/4), although s divides n. As an upper bound s is always right.
Reference: appendix C, second observation.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report, Sides
from kappaguard.verify.theory.instance import Record, integer, record, refuted


def growth(n: int, f: int, s: int) -> Fraction:
    """The worst fraction after, over the fraction before."""
    count = -(-n // s)
    return Fraction(min(f, count), count) / Fraction(f, n)


def hit(s: int, byzantine: set[int]) -> int:
    """How many buckets hold a Byzantine vector."""
    return len({place // s for place in byzantine})


def factor(data: Record) -> Sides:
    """The worst growth, and the s that is stated."""
    n = integer(data, "n", 1)
    f, s = integer(data, "f", 1, n), integer(data, "s", 1, n)
    return Sides(growth(n, f, s), "==", Fraction(s))


def check_factor(_effort: Effort, _report: Report) -> Finding:
    """n = 9, f = 4, s = 3, where s divides n as the paper assumes; and its setting n = 17, f = 4, s = 2."""
    shown = record("bucketing-fraction", n=9, f=4, s=3)
    demand(hit(3, {0, 3, 6, 8}) == 3 and growth(9, 4, 3) == Fraction(9, 4), "all three buckets are hit")
    demand(hit(2, {0, 2, 4, 6}) == 4 and growth(17, 4, 2) == Fraction(17, 9), "each in its own bucket")
    return refuted(
        ("exact",),
        factor(shown),
        "At n = 9, f = 4, s = 3, where s divides n as the paper assumes, the fraction grows from 4/9 to 1, a factor "
        "9/4 and not 3; at n = 17, f = 4, s = 2 from 4/17 to 4/9, a factor 17/9 and not 2. s is an upper bound.",
        shown,
    )


def check_exact(effort: Effort, report: Report) -> Finding:
    """All placements for small n, the formula for larger n."""
    from itertools import combinations

    small = effort.choose(8, 9, 11)
    for n in range(2, small + 1):
        for f in range(1, (n + 1) // 2):
            for s in range(1, n + 1):
                most = max(hit(s, set(places)) for places in combinations(range(n), f))
                demand(growth(n, f, s) == Fraction(most, -(-n // s)) / Fraction(f, n), f"n = {n}, f = {f}, s = {s}")
        report(n, small)
    for n in range(2, 60):
        for f in range(1, (n + 1) // 2):
            for s in range(1, n + 1):
                full = n % s == 0 and s * f <= n
                demand(growth(n, f, s) <= s and (growth(n, f, s) == s) == full, "s if and only if s | n and s f <= n")
    n, f, s = 16, 4, 2
    return Finding(
        "proved",
        ("exact", "symbolic"),
        float(growth(n, f, s)),
        float(s),
        "min(f, b) n/(f b) with b = ceil(n/s), at most s, and equal to s exactly if s divides n and s f <= n. "
        "Shown: n = 16, f = 4.",
    )


CLAIMS = (
    Claim(
        "bucketing-fraction",
        "Bucketing raises the fraction of Byzantine vectors by a factor s in the worst case",
        "appendix C, second observation",
        "refuted",
        check_factor,
        sides=factor,
        kind="theorem",
    ),
    Claim(
        "bucketing-fraction-corrected",
        "it raises it by min(f, b) n/(f b) <= s with b = ceil(n/s); by s exactly if s | n and s f <= n",
        "kappaguard",
        "proved",
        check_exact,
        corrects="bucketing-fraction",
        scope="instances",
    ),
)
