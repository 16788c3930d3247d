"""Bucketing need not reduce the variance.

Problem: the vectors are put into ceil(n/s) buckets in a random order, and each bucket is replaced by its mean.
Statements: (1) Observation 1: there is no worst-case reduction of the variance, "regardless of the value of s", even
    without Byzantine inputs. (2) Its proof: if each bucket is filled with s equal vectors, the variance stays the
    same. (3) The same with the paper's formula, which divides the last bucket by s even if it holds fewer vectors.
Computed: (1) fails at one end: s = n leaves one bucket, whose variance is 0, for every input (the proof's instance
    then has no variance to begin with). (1') For 1 <= s < n it holds: the quotient of the variances is 1 for s | n,
    and never more, by Jensen; if s does not divide n, put a different value into the last bucket of r < s vectors:
    with b = ceil(n/s) buckets the quotient is (1/b)(1 - 1/b) / ((r/n)(1 - r/n)) > 1, as r/n < 1/b <= 1/2: the
    variance even grows. (2) is right for s | n and s < n. (3) is not, if s does not divide n: n equal vectors c come
    out as c, .., c, (r/s) c, a variance out of nothing. The rule is then not translation-equivariant; the built-in
    bucketing divides by the number in the bucket.
Reference: appendix C (obs:reduction) and its footnote.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.bucketing import Bucketing
from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report, Sides
from kappaguard.verify.theory.instance import Record, integer, numbers, record, refuted
from kappaguard.verify.theory.worst import text


def variance(values: list[Fraction]) -> Fraction:
    """On the line."""
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / len(values)


def buckets(values: list[Fraction], s: int) -> list[Fraction]:
    """The built-in rule, in the given order."""
    import numpy as np

    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    rule = Bucketing(f=0, s=s, permutation=tuple(range(len(values))))
    return [Fraction(row[0]) for row in rule(array)]


def literal(values: list[Fraction], s: int) -> list[Fraction]:
    """The paper's formula: every bucket, full or not, divided by s."""
    return [sum(values[start : start + s], Fraction(0)) / s for start in range(0, len(values), s)]


def instance(n: int, s: int) -> list[Fraction]:
    """Buckets of equal values: 1 in the last one, 0 in the others."""
    last = n % s or s
    return [Fraction(0)] * (n - last) + [Fraction(1)] * last


def reduced(data: Record) -> Sides:
    """The variance after and before, for an s that reduces it on every input: one bucket holds everything."""
    values = numbers(data, "x")
    return Sides(variance(buckets(values, integer(data, "s", len(values), len(values)))), ">=", variance(values))


def printed(data: Record) -> Sides:
    """The variance after, with the printed formula, and before; every bucket holds equal values."""
    values = numbers(data, "x")
    s = integer(data, "s", 1, len(values))
    if any(len(set(values[start : start + s])) > 1 for start in range(0, len(values), s)):
        raise InputError("a bucket holds different values")
    return Sides(variance(literal(values, s)), "==", variance(values))


def check_any_size(_effort: Effort, _report: Report) -> Finding:
    """s = n."""
    shown = record("bucketing-variance", s=3, x=["0", "1", "5"])
    return refuted(
        ("exact", "symbolic"),
        reduced(shown),
        "With s = n there is one bucket and its variance is 0 for every input: the worst-case reduction is "
        "complete. The observation needs s < n.",
        shown,
    )


def check_smaller(effort: Effort, report: Report) -> Finding:
    """Every n and every s < n: an input whose variance is not reduced."""
    most = effort.choose(17, 30, 60)
    least, largest = None, (Fraction(0), 0, 0)
    for n in range(2, most + 1):
        for s in range(1, n):
            values = instance(n, s)
            quotient = variance(buckets(values, s)) / variance(values)
            demand(quotient >= 1 and (n % s != 0 or quotient == 1), f"no reduction at n = {n}, s = {s}")
            least = quotient if least is None else min(least, quotient)
            largest = max(largest, (quotient, n, s))
        report(n, most)
    assert least is not None
    quotient, n, s = largest
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(least),
        1.0,
        "The quotient of the variances is exactly 1 if s divides n; else the variance can grow, by "
        f"{text(quotient)} at n = {n}, s = {s}.",
        ">=",
    )


def check_literal(_effort: Effort, _report: Report) -> Finding:
    """The paper's formula on equal vectors, n = 17 and s = 2."""
    shown = record("bucketing-same-variance-any-n", s=2, x=["1"] * 17)
    return refuted(
        ("exact",),
        printed(shown),
        "n = 17, s = 2 (the paper's setting for f = 4): seventeen equal vectors c become eight times c and once "
        "c/2, since the last bucket holds one vector and is divided by 2.",
        shown,
    )


def check_divisible(_effort: Effort, _report: Report) -> Finding:
    """s divides n: equal, on instances with many values."""
    for n, s in [(4, 2), (6, 3), (12, 4), (16, 2)]:
        values = [Fraction(bucket * bucket) for bucket in range(n // s) for _ in range(s)]
        demand(variance(literal(values, s)) == variance(buckets(values, s)) == variance(values), f"n = {n}, s = {s}")
    return Finding(
        "proved", ("symbolic", "exact"), 1.0, 1.0, "Each y_i is repeated s times, so all moments agree.", "=="
    )


CLAIMS = (
    Claim(
        "bucketing-variance",
        "Bucketing gives no worst-case reduction of the variance regardless of s",
        "appendix C (obs:reduction)",
        "refuted",
        check_any_size,
        sides=reduced,
        kind="outside",
    ),
    Claim(
        "bucketing-variance-corrected",
        "Bucketing gives no worst-case reduction of the variance for any 1 <= s < n",
        "kappaguard",
        "proved",
        check_smaller,
        corrects="bucketing-variance",
        scope="instances",
    ),
    Claim(
        "bucketing-same-variance",
        "buckets of s equal vectors keep the variance, if s divides n",
        "appendix C, proof of obs:reduction",
        "proved",
        check_divisible,
        scope="instances",
    ),
    Claim(
        "bucketing-same-variance-any-n",
        "the same with the printed formula (last bucket divided by s) if s does not divide n",
        "appendix C, definition of Bucketing",
        "refuted",
        check_literal,
        sides=printed,
        kind="outside",
    ),
)
