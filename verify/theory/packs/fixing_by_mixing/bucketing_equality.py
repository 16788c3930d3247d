"""Bucketing in front of the median and of the trimmed mean.

Problem: n = 17, s = floor(n/(2f)), the same permutation for both.
Statements: Bucketing+CWMed and Bucketing+CWTM are the same (1) at f = 4 (appendix) and (2) in the setting of Figure
    1, f = 2.
Computed: with b = ceil(n/s) buckets the trimmed mean drops f values on either side and keeps b - 2f; it is the median
    if b = 2f + 1. b = 9 for f = 4 and b = 5 for f = 2. Both pipelines are run on exact fractions and must agree in
    every coordinate. At f = 3, the paper's third CIFAR-10 setting, b = 9 and three values are kept: they differ.
Reference: appendix on the experimental setup; footnote in section 6.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from kappaguard.rules.names import rule
from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report

N = 17


def agree(f: int, runs: int) -> int:
    """In how many of some random inputs the two pipelines return the same vector."""
    generator = np.random.default_rng(5)
    same = 0
    for seed in range(runs):
        x = np.empty((N, 3), dtype=object)
        x[:] = [[Fraction(int(value), 7) for value in row] for row in generator.integers(-50, 50, size=(N, 3))]
        median, trimmed = (rule(f"bucketing(seed={seed})+{last}", f=f)(x) for last in ("cwmed", "cwtm"))
        same += bool(np.all(median == trimmed))
    return same


def check(f: int, effort: Effort, _report: Report) -> Finding:
    """The count of kept buckets, and runs in exact arithmetic."""
    size = N // (2 * f)
    count = -(-N // size)
    demand(count == 2 * f + 1, "one value is kept: the median")
    runs = effort.choose(10, 40, 200)
    same = agree(f, runs)
    different = agree(3, runs)
    demand(different < runs, "at f = 3 they differ")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(same),
        float(runs),
        f"s = {size} leaves {count} = 2f+1 buckets, of which CWTM keeps the middle one. Equal in {same} of {runs} "
        f"runs; at f = 3 three of nine are kept, and {runs - different} of {runs} runs differ.",
        "==",
    )


CLAIMS = (
    Claim(
        "bucketing-equality",
        "at n = 17, f = 4, Bucketing+CWMed and Bucketing+CWTM return the same vector",
        "appendix on the experimental setup",
        "proved",
        partial(check, 4),
        scope="setting",
    ),
    Claim(
        "bucketing-equality-figure",
        "the same at n = 17, f = 2",
        "section 6, footnote on CIFAR-10",
        "proved",
        partial(check, 2),
        scope="setting",
    ),
)
