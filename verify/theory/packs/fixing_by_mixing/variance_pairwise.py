"""The variance as a sum over pairs.

Problem: vectors x_i in R^d, i in S, with mean m.
Statement: (1/|S|) sum ||x_i - m||^2 = 1/(2 |S|^2) sum over i, j in S of ||x_i - x_j||^2.
Computed: both sides as quadratic forms in the x_i. Either is a sum over coordinates, so one coordinate is enough; the
    matrix of the left form is (I - J/m)/m, that of the right one has 2 (m - 1)/(2 m^2) on its diagonal and
    -2/(2 m^2) beside it. Their entries are compared with sympy for a symbolic m.
Reference: appendix A.3, eq:variance-pairwise.
"""

from __future__ import annotations

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term


def check(_effort: Effort, _report: Report, weight: Term) -> Finding:
    """Compare the two matrices entry by entry."""
    import sympy

    m = sympy.Symbol("m", integer=True, positive=True)
    left = {"diagonal": (1 - 1 / m) / m, "beside": -1 / m**2}
    # every unordered pair occurs twice: x_i^2 in 2 (m - 1) terms, -2 x_i x_j in 2, and the form has half of that
    right = {"diagonal": weight.symbolic() * 2 * (m - 1) / m**2, "beside": -weight.symbolic() * 2 / m**2}
    if any(sympy.simplify(left[entry] - right[entry]) != 0 for entry in left):
        raise AssertionError("the two forms differ")
    return Finding("proved", ("symbolic",), None, None, "Both sides are the same quadratic form, for every size.", "==")


CLAIM = Claim(
    "variance-pairwise",
    "(1/|S|) sum_i ||x_i - mean||^2 = {weight} 1/|S|^2 sum_ij ||x_i - x_j||^2",
    "appendix A.3 (eq:variance-pairwise)",
    "proved",
    check,
    scope="algebra",
    terms={"weight": Term("1/2", 0)},
)
