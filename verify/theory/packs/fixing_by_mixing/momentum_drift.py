"""The drift of the honest momentums (first lemma of D-SHB).

Problem: the workers of Algorithm 2, m = n - f of them honest, under Assumptions 1 (heterogeneity G) and 2 (variance
    sigma^2), with m_0^(i) = 0.
Statement: E (1/m) sum over H of ||m_t^(i) - mean_t||^2 <= 3 (1-beta)/(1+beta) (1 + 1/m) sigma^2 + 3 G^2 for all t.
    Ours: <= (1 - beta)(1 - 1/m) sigma^2 + G^2; neither coefficient can be lowered without raising the other.
Computed: the largest drift exactly, as a recursion with its limit, see ``verify/theory/performance/momentum``;
    a run of the workers that attains it; the sums of the paper's proof with sympy.
Proof of ours: in the notation there, p^2 = r + (1 - w) G^2 + w G p and 2 G p <= p^2 + G^2, hence
    (1 - w/2) p^2 <= r + (1 - w/2) G^2, and 1 - w/2 = 1/(1 + beta). To first order in sigma^2 it is an equality. With
    G p <= p^2/4 + G^2 instead, p^2 <= 4/3 (r + G^2), an equality in the limit beta -> 1, r = 2 G^2: in the form of the
    statement the factor 3 could be 4/3.
On the paper's proof: in the first line of eq:lem1 the average gradient must carry the index k, not t; in the bound of
    B_t the deviation of g_t^(i) must be taken from grad L_i, not grad L_H. Neither changes the result. The three parts
    are split by (a+b+c)^2 <= 3(a^2+b^2+c^2), although the noise of a worker and that of the average go in opposite
    directions (hence 1 - 1/m for 1 + 1/m), and although noise does not act on the deviations of its own step.
Reference: appendix on D-SHB, lem:mmt_drift, eq:lem1, eqn:mmt_dft_at, eqn:mmt_dft_bt.
"""

from __future__ import annotations

from collections.abc import Callable

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

BETAS = (0.0, 0.5, 0.9, 0.99, 0.999)
HONEST = (2, 3, 10, 1000)
SPREADS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 1e6)
"""r / G^2, see the docstring."""


def check(_effort: Effort, report: Report, noise: Term, floor: Term) -> Finding:
    """The stated bound against the largest drift."""
    _sums_of_the_proof(noise, floor)
    report(1, 2)
    computed, stated = tightest(
        lambda beta, variance, honest: (
            float(noise()) * (1 - beta) / (1 + beta) * (1 + 1 / honest) * variance + float(floor())
        )
    )
    report(2, 2)
    return Finding(
        "proved",
        ("symbolic", "exact", "simulated"),
        computed,
        stated,
        f"The exact worst case reaches {computed / stated:.3f} of the bound, at most 4/9 for any parameters: factor 3 "
        "could be 4/3 and 1 + 1/(n-f) could be 1 - 1/(n-f).",
    )


def check_sharp(effort: Effort, report: Report, noise: Term, floor: Term) -> Finding:
    """Our bound against the largest drift, and the run that attains it."""
    import sympy

    from kappaguard.verify.theory.algebra import StepFails, require_equal
    from kappaguard.verify.theory.performance.momentum import aligned_run, largest_spread

    spread, deviation, level, w, beta = sympy.symbols("p G r w beta", nonnegative=True)
    equation = level + (1 - w) * deviation**2 + w * deviation * spread - spread**2
    for weight in (sympy.Rational(1, 2), sympy.Rational(1, 4)):
        require_equal(
            f"2 G p with weight {weight}",
            level + (1 - w + w / (4 * weight)) * deviation**2 - (1 - weight * w) * spread**2,
            equation + weight * w * (spread - deviation / (2 * weight)) ** 2,
        )
    require_equal("1 - w/2", 1 - (2 * beta / (1 + beta)) / 2, 1 / (1 + beta))
    require_equal("(1 + beta) r", (1 + beta) * (1 - beta) / (1 + beta), noise.symbolic() * (1 - beta))
    require_equal("G^2", equation.subs({spread: deviation, level: 0}), (floor.symbolic() - 1) * deviation**2)
    root = (beta * deviation + sympy.sqrt(deviation**2 + (1 + beta) ** 2 * level)) / (1 + beta)
    require_equal("limit of the recursion", equation.subs(w, 2 * beta / (1 + beta)).subs(spread, root), 0)
    slope = sympy.diff(root**2, level).subs(level, 0).subs(deviation, 1)
    require_equal("first order in r", slope, 1 + beta)
    report(1, 2)
    steps = effort.choose(20, 60, 200)
    for factor, honest in ((0.5, 2), (0.9, 3), (0.9, 5)):
        run = aligned_run(factor, steps, honest, 1.0, 9.0)
        exact = largest_spread(factor, steps, 1.0, 9.0 * (1 - 1 / honest))
        if abs(run - exact) > 1e-9 * exact:
            raise StepFails(f"the run drifts by {run}, the recursion says {exact}")
    computed, stated = tightest(
        lambda beta, variance, honest: float(noise()) * (1 - beta) * (1 - 1 / honest) * variance + float(floor())
    )
    report(2, 2)
    return Finding(
        "proved",
        ("symbolic", "exact", "simulated"),
        computed,
        stated,
        "An equality for beta = 0, and to first order in sigma^2/G^2 for all beta; a run of the workers attains the "
        "exact worst case at every t.",
    )


def _sums_of_the_proof(noise: Term, floor: Term) -> None:
    import sympy

    from kappaguard.verify.theory.algebra import require_equal

    beta = sympy.Symbol("beta", positive=True)
    t = sympy.Symbol("t", integer=True, positive=True)
    for last in range(1, 6):
        squares = sum(beta ** (2 * power) for power in range(last))
        require_equal("eqn:mmt_dft_at", squares * (1 - beta**2), 1 - beta ** (2 * last))
    require_equal("coefficient of sigma^2", (1 - beta) ** 2 / (1 - beta**2), (1 - beta) / (1 + beta))
    # (a + b + c)^2 <= 3 (a^2 + b^2 + c^2): the three parts are a worker's noise, the average's, and the deviation
    a, b, c = sympy.symbols("a b c", real=True)
    parts = (a - b) ** 2 + (b - c) ** 2 + (a - c) ** 2
    require_equal("three parts, noise", noise.symbolic() * (a**2 + b**2 + c**2) - (a + b + c) ** 2, parts)
    require_equal("three parts, deviation", floor.symbolic() * (a**2 + b**2 + c**2) - (a + b + c) ** 2, parts)
    require_equal("coefficient of G^2", (1 - beta) ** 2 * ((1 - beta**t) / (1 - beta)) ** 2, (1 - beta**t) ** 2)


def tightest(bound: Callable[[float, float, int], float]) -> tuple[float, float]:
    """The largest drift and a bound of beta, sigma^2 and n - f, where they are closest, for G = 1."""
    from kappaguard.verify.theory.performance.momentum import limiting_spread

    pairs = []
    for beta in BETAS:
        for honest in HONEST:
            for spread in SPREADS:
                variance = spread * (1 + beta) / (1 - beta) / (1 - 1 / honest)
                largest = limiting_spread(beta, 1.0, variance * (1 - 1 / honest))
                pairs.append((largest, bound(beta, variance, honest)))
    return max(pairs, key=lambda pair: pair[0] / pair[1])


CLAIMS = (
    Claim(
        "momentum-drift",
        "E (1/m) sum ||m_t^i - mean||^2 <= {noise} (1-beta)/(1+beta) (1 + 1/m) sigma^2 + {floor} G^2, m = n - f",
        "appendix on D-SHB, lemma on momentum drift (lem:mmt_drift)",
        "proved",
        check,
        scope="algebra",
        terms={"noise": Term("3"), "floor": Term("3")},
    ),
    Claim(
        "momentum-drift-sharp",
        "E (1/m) sum ||m_t^i - mean||^2 <= {noise} (1 - beta) (1 - 1/m) sigma^2 + {floor} G^2, m = n - f",
        "kappaguard",
        "proved",
        check_sharp,
        scope="algebra",
        terms={"noise": Term("1"), "floor": Term("1")},
    ),
)
