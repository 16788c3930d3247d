"""The pivot lemma behind NNM.

Problem: y is the mean of the m = n-f vectors nearest to a pivot mu, S any set of m vectors.
Statement: ||y - mean_S||^2 <= 4f/(n-f) (1/|S|) sum over S of ||x_i - mu||^2, for f < n.
Computed: the paper's chain gives 2f/m^2 (A + B), A and B each at most the sum over S; the same follows from the
    triangle inequality and Cauchy (2 sum over S \\ N of ||x_j - mu||)^2 <= 4 f sum. Tight for f <= n/2: f vectors of
    S at -1, the f others at just below 1, the rest at mu = 0, re-evaluated in fractions. Search finds nothing above.
Reference: appendix B (lem:cva-pivot).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.search.probe import Floats, probe
from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import TOLERANCE, Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

TRIFLE = Fraction(1, 10**6)


def quotient(x: list[Fraction], mu: Fraction, m: int) -> Fraction:
    """Both sides' quotient without 4f/(n-f), on the line, S being the first m."""
    nearest = sorted(range(len(x)), key=lambda i: abs(x[i] - mu))[:m]
    error = sum((x[i] for i in nearest), Fraction(0)) / m - sum(x[:m], Fraction(0)) / m
    return error**2 / (sum(((value - mu) ** 2 for value in x[:m]), Fraction(0)) / m)


def score(n: int, f: int) -> Any:
    """The same on batches of inputs, the pivot being 0."""
    m = n - f

    def value(x: Floats) -> Floats:
        lengths = np.sum(x * x, axis=-1)
        nearest = np.argsort(lengths, axis=-1, kind="stable")[:, :m]
        mean = np.mean(np.take_along_axis(x, nearest[:, :, None], axis=1), axis=1)
        error = np.sum((mean - np.mean(x[:, :m], axis=1)) ** 2, axis=-1)
        spread = np.mean(lengths[:, :m], axis=-1)
        result: Floats = np.where(spread > 0, error / np.where(spread > 0, spread, 1), -np.inf)
        return result

    return value


def check(effort: Effort, report: Report, factor: Term) -> Finding:
    """The constants of the chain, the extremal input at every (n, f), and a search."""
    import sympy

    size, bad, total = sympy.symbols("m f total", positive=True)
    demand(
        equal(2 * bad / size**2 * (total + total), factor.symbolic() * bad / size * total / size),
        "the paper's last step",
    )
    a, b = sympy.symbols("a b")
    demand(equal(2 * (a**2 + b**2) - (a - b) ** 2, (a + b) ** 2), "Jensen's inequality for two vectors")
    pairs = [(n, f) for n in range(2, 18) for f in range(1, n // 2 + 1)]
    for n, f in pairs:
        m = n - f
        x = [Fraction(-1)] * f + [Fraction(0)] * (m - f) + [1 - TRIFLE] * f
        share = quotient(x, Fraction(0), m) / (factor() * Fraction(f, m))
        demand(1 - 2 * TRIFLE <= share < 1, f"the lemma is tight at n = {n}, f = {f}")
    searched = [(5, 2), (7, 2), (7, 5), (17, 4)]
    evaluations = 0
    for done, (n, f) in enumerate(searched):
        found = probe(score(n, f), n, f, effort.choose(20, 100, 500), seed=2)
        evaluations += found.evaluations
        demand(found.value <= float(factor()) * f / (n - f) * (1 + TOLERANCE), f"search at n = {n}, f = {f}")
        report(done + 1, len(searched))
    n, f = 17, 4
    x = [Fraction(-1)] * f + [Fraction(0)] * (n - 2 * f) + [1 - TRIFLE] * f
    return Finding(
        "proved",
        ("symbolic", "exact", "search"),
        float(quotient(x, Fraction(0), n - f)),
        float(factor() * Fraction(f, n - f)),
        f"The constant cannot be improved for f <= n/2: one input reaches it up to a trifle at all {len(pairs)} "
        f"pairs (n, f). {evaluations} inputs of a search stay below.",
        witness={"n": n, "f": f, "mu": "0", "S": list(range(n - f)), "x": [str(value) for value in x]},
    )


CLAIM = Claim(
    "pivot",
    "||y_mu - mean_S||^2 <= {factor} f/(n-f) (1/|S|) sum over S of ||x_i - mu||^2",
    "appendix B (lem:cva-pivot)",
    "proved",
    check,
    scope="algebra",
    terms={"factor": Term("4", 0)},
)
