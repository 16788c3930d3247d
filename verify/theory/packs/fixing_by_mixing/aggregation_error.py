"""The error of the aggregate of momentums (second lemma of D-SHB), in the two versions of the paper and in ours.

Problem: R_t = F(m_t^(1), ..., m_t^(n)) with an (f, kappa)-robust F, under Assumptions 1 and 2; xi_t = R_t - mean_t.
Statement: main outline: E ||xi_t||^2 <= 6 kappa (1-beta)/(1+beta) sigma^2 + 3 kappa G^2.
    Restated before its proof: the same with 48 kappa G^2. The proof derives 3, which implies 48.
    Ours: E ||xi_t||^2 <= kappa ((1 - beta)(1 - 1/m) sigma^2 + G^2), m = n - f.
Computed: (f, kappa)-robustness gives ||xi_t||^2 <= kappa times the drift, with equality where the rule attains its
    kappa, so that the worst case is kappa times the largest drift of ``verify/theory/performance/momentum``. For
    n = 3, f = 1 and cwmed it is attained: with honest messages a and b the Byzantine worker repeats a, the median is
    a, and ||a - (a+b)/2||^2 is the variance, kappa = 1.
Reference: appendix on D-SHB, lem:drift, eqn:lem_drift_t, eqn:before_lemma_drift.
"""

from __future__ import annotations

from functools import partial

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.packs.fixing_by_mixing.momentum_drift import tightest
from kappaguard.verify.theory.term import Term


def _median_attains() -> None:
    """cwmed at n = 3, f = 1 has error^2 = variance when the Byzantine worker repeats an honest message."""
    from fractions import Fraction

    import numpy as np

    from kappaguard.rules.names import rule
    from kappaguard.verify.theory.algebra import StepFails

    x = np.array([[Fraction(3), Fraction(-2)], [Fraction(1), Fraction(5)], [Fraction(3), Fraction(-2)]], dtype=object)
    output = np.asarray(rule("cwmed", f=1)(x))
    mean = (x[0] + x[1]) / 2
    if np.sum((output - mean) ** 2) != np.sum((x[:2] - mean) ** 2) / 2:
        raise StepFails("cwmed does not attain kappa = 1")


def check(_effort: Effort, _report: Report, noise: Term, floor: Term, about: str) -> Finding:
    """The paper's two versions: the step from the lemma on the drift, and kappa times the largest drift."""
    import sympy

    from kappaguard.verify.theory.algebra import require_nonnegative_coefficients

    more = sympy.Symbol("more", nonnegative=True)
    # m = 1 + more, the step marked (n - f >= 1): noise - 3 (1 + 1/m) >= 0, and what the drift has beside it
    slack = sympy.simplify((noise.symbolic() - 3 * (1 + 1 / (1 + more))) * (1 + more))
    require_nonnegative_coefficients("n - f >= 1", slack, more)
    require_nonnegative_coefficients("beside G^2", (floor.symbolic() - 3) * (1 + more), more)
    _median_attains()
    computed, stated = tightest(
        lambda beta, variance, honest: float(noise()) * (1 - beta) / (1 + beta) * variance + float(floor())
    )
    return Finding("proved", ("symbolic", "exact"), computed, stated, f"{about} The numbers are for kappa = G = 1.")


def check_sharp(_effort: Effort, _report: Report, noise: Term, floor: Term) -> Finding:
    """kappa times the sharp drift, whose coefficients cannot be lowered (claim momentum-drift-sharp)."""
    _median_attains()
    computed, stated = tightest(
        lambda beta, variance, honest: float(noise()) * (1 - beta) * (1 - 1 / honest) * variance + float(floor())
    )
    return Finding(
        "proved",
        ("symbolic", "exact"),
        computed,
        stated,
        "kappa times the sharp drift; attained to first order in sigma^2/G^2 by a rule that attains its kappa. The "
        "numbers are for kappa = G = 1.",
    )


CLAIMS = (
    Claim(
        "aggregation-error",
        "E ||R_t - mean||^2 <= {noise} kappa (1-beta)/(1+beta) sigma^2 + {floor} kappa G^2",
        "appendix on D-SHB, proof outline (lem:drift)",
        "proved",
        partial(
            check,
            about="Follows from the lemma on the drift, and is at least three times the exact worst case.",
        ),
        scope="algebra",
        terms={"noise": Term("6"), "floor": Term("3")},
    ),
    Claim(
        "aggregation-error-restated",
        "E ||R_t - mean||^2 <= {noise} kappa (1-beta)/(1+beta) sigma^2 + {floor} kappa G^2",
        "appendix on D-SHB, restated before its proof (lem:drift)",
        "proved",
        partial(
            check,
            about="Weaker than the version of the outline, which has 3 for 48 and is what is proved and used.",
        ),
        scope="algebra",
        terms={"noise": Term("6"), "floor": Term("48")},
    ),
    Claim(
        "aggregation-error-sharp",
        "E ||R_t - mean||^2 <= kappa ({noise} (1 - beta) (1 - 1/m) sigma^2 + {floor} G^2), m = n - f",
        "kappaguard",
        "proved",
        check_sharp,
        scope="algebra",
        terms={"noise": Term("1"), "floor": Term("1")},
    ),
)
