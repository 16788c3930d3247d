"""Robust D-GD with NNM reaches the optimal order (Corollary 1).

Problem: Algorithm 1 with gamma = 1/L and aggregation F o NNM, F (f, kappa)-robust with kappa = O(1).
Statement: Algorithm 1 is (f, epsilon)-Byzantine resilient with epsilon = O(f/n G^2 + 1/T).
Computed: Lemma 1 gives kappa' = 8f/(n-f) (kappa + 1). The paper inserts it in Theorem 1, which fails for T >= 4; with
    the corrected theorem epsilon = 72 f/(n-f) (kappa + 1) G^2 + 4 L Delta/T <= 144 (kappa + 1) f/n G^2 + 4 L Delta/T,
    so the order stands. The paper's constant 32 f/(n-f) (kappa + 1) is then neither proved nor refuted: it would need a
    rule for which Lemma 1 is nearly attained. The numbers compare 72 f/(n-f) with 144 f/n at n = 17, f = 4, kappa = 0.
Reference: Corollary 1 (cor:resilience), Lemma 1 (lem:cenna).
"""

from __future__ import annotations

from kappaguard.verify.claims.claim import Claim, Effort, Finding, Report


def check(_effort: Effort, report: Report) -> Finding:
    """The algebra."""
    import sympy

    from kappaguard.verify.claims.algebra import require_equal, require_nonnegative_coefficients

    f, more, kappa = sympy.symbols("f d kappa", nonnegative=True)
    honest, n = f + more, 2 * f + more  # n >= 2f
    amplified = 8 * f / honest * (kappa + 1)
    require_equal("9 kappa'", 9 * amplified, 72 * f / honest * (kappa + 1))
    slack = sympy.cancel((2 * f / n - f / honest) * n * honest)
    require_nonnegative_coefficients("f/(n-f) <= 2f/n", slack, f, more)
    report(1, 1)
    return Finding(
        "proved",
        ("symbolic",),
        72 * 4 / 13,
        144 * 4 / 17,
        "From the corrected theorem; the paper uses Theorem 1, which fails for T >= 4. The order stands with "
        "144 (kappa + 1) f/n G^2 + 4 L Delta/T.",
    )


CLAIM = Claim(
    "corollary-1",
    "D-GD with F o NNM is (f, O(f/n G^2 + 1/T))-resilient if F is (f, O(1))-robust",
    "Corollary 1 (cor:resilience)",
    "proved",
    check,
)
