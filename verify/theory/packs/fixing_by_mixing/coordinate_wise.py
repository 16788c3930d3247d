"""Coordinate-wise rules are as robust as on the line.

Problem: F acts on every coordinate by itself, F_k on the k-th.
Statement: if every F_k is (f, kappa)-robust, then so is F.
Computed: error and variance are sums over coordinates (checked with sympy on generic vectors), so the inequalities
    add up. The converse holds too (put the worst input on one axis), so kappa* in R^d is the largest kappa* of the F_k:
    the scalar witness, laid along each axis at once, has the same ratio in R^3, and search in R^2 and R^3 finds
    nothing above the scalar kappa*.
Reference: appendix A.1 (lem:cw-kappa).
"""

from __future__ import annotations

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.worst import kappa_star, settled, text

RULES = ("cwtm", "cwmed", "meamed")


def check(effort: Effort, report: Report) -> Finding:
    """The sums, the scalar witnesses in R^3, and a search in R^2 and R^3."""
    import sympy

    from kappaguard.rules.names import rule as named
    from kappaguard.search.probe import probe, ratio_score

    honest = [sympy.symbols(f"x{i}_:3") for i in range(4)]
    output = sympy.symbols("y_:3")
    means = [sum(row[k] for row in honest) / 4 for k in range(3)]
    error = sympy.Matrix(output) - sympy.Matrix(means)
    demand(equal(error.dot(error), sum((output[k] - means[k]) ** 2 for k in range(3))), "the error is a sum")
    spread = sum(
        (sympy.Matrix(row) - sympy.Matrix(means)).dot(sympy.Matrix(row) - sympy.Matrix(means)) for row in honest
    )
    apart = sum(sum((row[k] - means[k]) ** 2 for row in honest) for k in range(3))
    demand(equal(spread, apart), "the variance is a sum")

    n, f = 7, 2
    best = 0.0
    for done, rule in enumerate(RULES):
        scalar = kappa_star(rule, n, f)
        assert scalar.witness is not None
        assert scalar.upper is not None
        thick = settled(rule, f, [[row[0], 2 * row[0], -row[0]] for row in scalar.witness.x], scalar.witness.subset)
        demand(thick.lower == scalar.lower, "the scalar witness keeps its ratio")
        found = probe(ratio_score(named(rule, f=f), n, f), n, f, effort.choose(20, 100, 400), 1, (2, 3))
        searched = settled(rule, f, found.rational())
        demand(searched.lower <= scalar.upper, f"{rule} is no worse in R^3 than on the line")
        best = max(best, float(thick.lower / scalar.upper))
        report(done + 1, len(RULES))
    return Finding(
        "proved",
        ("symbolic", "exact", "search"),
        best,
        1.0,
        "Error and variance add over coordinates. kappa* in R^d over kappa* on the line is exactly 1; the scalar "
        f"witness attains {text(best)} of it in R^3.",
    )


CLAIM = Claim(
    "coordinate-wise",
    "a coordinate-wise rule is (f, kappa)-robust if each of its coordinates is",
    "appendix A.1 (lem:cw-kappa)",
    "proved",
    check,
    scope="algebra",
)
