"""Robust D-SHB with NNM reaches the optimal order in expectation (Corollary 2).

Problem: Algorithm 2 as in Theorem 2 with aggregation F o NNM, F (f, kappa)-robust with kappa = O(1).
Statement: E||grad L_H(output)||^2 = O(f/n G^2 + 1/sqrt(T)).
Computed: Lemma 1 gives kappa' = 8f/(n-f) (kappa + 1), hence a_1 kappa' <= 576 (kappa + 1) f/n. The last terms are of
    the stated order uniformly in n and f, because f/(n-f) < 1:
        a_kappa'^2 <= 8 a_3 (kappa + 1) + a_4,   a_4/(n a_kappa') <= sqrt(a_4 (n-f))/n <= sqrt(a_4/n).
    (The proof says a_kappa' = Theta(1); for f = 0 it is of order 1/sqrt(n). Only the upper bound is needed for the
    second term, and the inequality above for the last.) Assumption 2 is missing in the statement; "the same setting as
    Theorem 2" supplies it. The numbers compare 288 f/(n-f) with 576 f/n at n = 17, f = 4, kappa = 0.
Reference: Corollary 2 (cor:nnm-dshb), Lemma 1 (lem:cenna).
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term


def check(_effort: Effort, report: Report, order: Term) -> Finding:
    """The algebra."""
    import sympy

    from kappaguard.verify.theory.algebra import require_equal, require_nonnegative_coefficients

    f, more, kappa, a3, a4 = sympy.symbols("f d kappa a3 a4", nonnegative=True)
    # n - 2f = 1 + d, because n and f are integers with n > 2f.
    honest, n = f + 1 + more, 2 * f + 1 + more
    amplified = 8 * f / honest * (kappa + 1)
    require_equal("a_1 kappa'", 36 * amplified, 288 * f / honest * (kappa + 1))
    positive = {
        "f/(n-f) <= 2f/n": (2 * f / n - f / honest) * n * honest,
        "a_kappa' is bounded": (8 * a3 * (kappa + 1) + a4 - a3 * amplified - a4 / honest) * honest,
        "a_kappa'^2 >= a_4/(n-f)": a3 * amplified * honest,
        "n - f <= n": n - honest,
    }
    for label, slack in positive.items():
        require_nonnegative_coefficients(label, sympy.cancel(slack), f, more, kappa, a3, a4)
    # the factor is reached in the limit n = 2f
    together = sympy.limit((36 * amplified / (kappa + 1) * n / f).subs(more, more - 1), more, 0)
    require_equal("of a_1 kappa'", together, order.symbolic())
    reached, shown = (36 * amplified).subs({kappa: 0, f: 4, more: 8}), order() * Fraction(4, 17)
    report(1, 1)
    return Finding(
        "proved",
        ("symbolic",),
        float(reached),
        float(shown),
        f"From Theorem 2 and Lemma 1: {order} (kappa + 1) f/n G^2 and terms that are O(1/sqrt(T)) uniformly in n, f.",
    )


CLAIM = Claim(
    "corollary-2",
    "D-SHB with F o NNM: E||grad||^2 <= {order} (kappa+1) f/n G^2 + O(1/sqrt(T)):"
    " O(f/n G^2 + 1/sqrt(T)) for kappa = O(1)",
    "Corollary 2 (cor:nnm-dshb)",
    "proved",
    check,
    scope="algebra",
    terms={"order": Term("576")},
)
