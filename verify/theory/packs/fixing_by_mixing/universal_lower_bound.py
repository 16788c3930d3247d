"""No rule is better than f/(n-2f), and none exists if half of the workers are Byzantine.

Problem: F is any rule, f < n.
Statement: if F is (f, kappa)-robust, then n > 2f and kappa >= f/(n-2f).
Computed: on the input of n-f zeros and f ones, S = the first n-f forces F = 0. For 2f >= n the last n-f are all ones
    and force F = 1, a contradiction: both sets are written out for every n up to a size. For n > 2f the ratio of the
    last n-f is f/(n-2f), by sympy and in exact arithmetic for every built-in rule. CWTM attains it (claim
    closed-form-cwtm), so the bound is the best possible for every (n, f).
Reference: appendix A.2 (prop:kappa-lb).
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.coefficients import UNIVERSAL
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled


def check_bound(effort: Effort, report: Report, bound: Term) -> Finding:
    """The ratio of the input, for every rule, and its attainment by CWTM."""
    import sympy

    n, f = sympy.symbols("n f", positive=True)
    mean = f / (n - f)
    spread = ((n - 2 * f) * mean**2 + f * (1 - mean) ** 2) / (n - f)
    demand(equal(mean**2 / spread, bound.symbolic(n, f)), "the ratio of the input")
    pairs = grid(effort, 9, 13, 17)
    for done, (size, bad) in enumerate(pairs):
        x = [[0]] * (size - bad) + [[1]] * bad
        for rule in ("cwtm", "cwmed", "gm", "krum", "meamed", "mda", "multikrum"):
            demand(
                settled(rule, bad, x, range(bad, size)).lower == bound(size, bad), f"{rule} has ratio f/(n-2f) there"
            )
        demand(kappa_star("cwtm", size, bad).upper == bound(size, bad), "CWTM attains it")
        report(done + 1, len(pairs))
    best = kappa_star("cwtm", 17, 4)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(best.lower),
        float(bound(17, 4)),
        "The smallest kappa* of all rules is f/(n-2f): CWTM attains the bound at every (n, f).",
        ">=",
        best.witness,
    )


def check_majority(effort: Effort, report: Report) -> Finding:
    """2f >= n: two sets without spread and with different means."""
    most = effort.choose(12, 20, 40)
    for n in range(1, most + 1):
        for f in range((n + 1) // 2, n):
            x = [0] * (n - f) + [1] * f
            demand(len(set(x[: n - f])) == 1 and len(set(x[f:])) == 1 and x[0] != x[f], "zeros, and ones")
        report(n, most)
    return Finding(
        "proved",
        ("exact", "symbolic"),
        None,
        None,
        "If 2f >= n, the first n-f vectors are all 0 and the last n-f all 1 on one input, and F cannot return both.",
    )


CLAIMS = (
    Claim(
        "universal-lower-bound",
        "an (f, kappa)-robust rule has kappa >= {bound}",
        "appendix A.2 (prop:kappa-lb)",
        "proved",
        check_bound,
        scope="algebra",
        terms={"bound": Term(UNIVERSAL.expression, 1)},
    ),
    Claim(
        "no-majority",
        "there is no (f, kappa)-robust rule if 2f >= n",
        "appendix A.2 (prop:kappa-lb)",
        "proved",
        check_majority,
        scope="instances",
    ),
)
