"""What Bucketing does to the variance in expectation.

Problem: n vectors are put into n/s buckets in a random order, s divides n, and each bucket is replaced by its mean.
Statement: in expectation over the permutations the heterogeneity falls (the paper, with Karimireddy et al.'s 1/s).
    Ours: the variance becomes (n-s)/(s(n-1)) times what it was, less than 1/s if 1 < s, and exactly that for every
    input.
Proof. For two different places <x_pi(k) - mean, x_pi(l) - mean> is -V/(n-1) in expectation, as all of them together
    give |sum of (x_i - mean)|^2 - n V = -n V over n (n-1) pairs. A bucket's mean is off by (s V - s (s-1)
    V/(n-1))/s^2, which is V (n-s)/(s (n-1)), and the mean of the buckets is that of the vectors, whatever the
    permutation.
Computed: the algebra with sympy; the mean over all permutations, in exact arithmetic, by the built-in rule.
Reference: appendix C, before obs:reduction; Karimireddy et al. 2022, Lemma 1.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from kappaguard.verify.theory.algebra import demand, equal, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.packs.fixing_by_mixing.bucketing_variance import buckets, variance
from kappaguard.verify.theory.term import Term


def expected(values: list[Fraction], s: int) -> Fraction:
    """The variance after Bucketing, over all permutations."""
    orders = list(permutations(values))
    return sum((variance(buckets(list(order), s)) for order in orders), Fraction(0)) / len(orders)


def check(effort: Effort, report: Report, factor: Term) -> Finding:
    """The algebra, and all permutations of some inputs."""
    n, s, spread = symbols("n s spread")
    within = (s * spread - s * (s - 1) * spread / (n - 1)) / s**2
    demand(equal(within, spread * (n - s) / (s * (n - 1))), "the variance of a bucket's mean")
    cases = [([0, 1, 5, 7], 2), ([0, 0, 0, 1], 2), ([3, 1, 4, 1, 5], 1), ([2, 2], 2)]
    cases += effort.choose([], [([0, 1, 5, 7, 9, 2], 2), ([0, 1, 5, 7, 9, 2], 3)], [([0, 0, 0, 1, 1, 7], 3)])
    for done, (numbers, size) in enumerate(cases, start=1):
        values = [Fraction(value) for value in numbers]
        count = len(values)
        stated = factor() * Fraction(count - size, size * (count - 1)) * variance(values)
        demand(expected(values, size) == stated, f"{numbers} in buckets of {size}")
        report(done, len(cases))
    values = [Fraction(value) for value in (0, 1, 5, 7)]
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(expected(values, 2) / variance(values)),
        float(factor() * Fraction(2, 6)),
        "Any input will do. Shown: 0, 1, 5 and 7 in two buckets, over all 24 permutations.",
        relation="==",
    )


CLAIM = Claim(
    "bucketing-expectation",
    "in expectation over permutations Bucketing makes the variance {factor} (n-s)/(s(n-1)) times what it was, if s | n",
    "appendix C (before obs:reduction): the expected reduction",
    "proved",
    check,
    scope="algebra",
    terms={"factor": Term("1", 0)},
)
