"""The deviation of the average momentum from the gradient (third lemma of D-SHB).

Problem: delta_t = mean_t - grad L_H(theta_{t-1}) with mean_t = beta mean_{t-1} + (1 - beta) gbar_t,
    theta_{t-1} = theta_{t-2} - gamma R_{t-1}, R_{t-1} = mean_{t-1} + xi_{t-1}; L_H is L-smooth, Assumption 2.
Statement: with h = gamma L and c = (1 + h)(1 + 4h), for t >= 2,
    E||delta_t||^2 <= beta^2 c E||delta_{t-1}||^2 + 4 h (1 + h) beta^2 E||grad L_H(theta_{t-2})||^2
                      + (1 - beta)^2 sigma^2/(n - f) + 2 h (1 + h) beta^2 E||xi_{t-1}||^2.
Computed: delta_t = beta (delta + d) + (1 - beta)(centred noise) with d = grad L_H(theta_{t-2}) - grad L_H(theta_{t-1}),
    so the noise adds exactly its variance and the rest is beta^2 ||delta + d||^2, of which only ||d|| <= h ||R|| is
    known, R = g + delta + xi. All vectors aligned and L_H = L ||theta||^2 / 2 attain (||delta|| + h ||R||)^2. The
    largest ratio to the stated form is therefore, by the Cauchy-Schwarz inequality with its case of equality,

        (1 + h)/(1 + 4h) + 3h/(4 (1 + h)),

    below 1 for every h > 0 and 1 in the limit h -> 0: no condition on gamma is needed, and none of the three
    coefficients can be lowered for all h. The proof's gap, stated minus exact over beta^2, is
    h (||delta|| - ||R||)^2 + h (1 + h) (||mean - xi||^2 + 2 ||delta - g||^2), checked with sympy.
On the paper's proof: the second display has theta_t for theta_{t-1} once. The lemma is stated for t in [T], while the
    proof of Theorem 2 uses it for t = T + 1, with one more stochastic gradient, at theta_T, that the algorithm never
    draws; it may be imagined, or avoided (see ``dshb_convergence``).
Reference: appendix on D-SHB, lem:dev, eqn:dev_before_ab.
"""

from __future__ import annotations

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

LARGEST = 24
"""1 / (gamma L) at the largest step size of Theorem 2."""


def worst_ratio(h: float) -> float:
    """The closed form above."""
    return (1 + h) / (1 + 4 * h) + 3 * h / (4 * (1 + h))


def one_step(h: float, delta: float, gradient: float, error: float) -> tuple[float, float]:
    """One step of the algorithm in one dimension with L = 1: ||delta_t||^2 / beta^2 without noise, and the bound.

    The loss is theta^2 / 2, so that the point is the gradient; beta is taken out and the noise is left out.
    """
    before = gradient
    after = before - h * (gradient + delta + error)
    exact = (delta + before - after) ** 2
    bound = (1 + h) * (1 + 4 * h) * delta**2 + 4 * h * (1 + h) * gradient**2 + 2 * h * (1 + h) * error**2
    return exact, bound


def check(_effort: Effort, report: Report, before: Term, slope: Term, wrong: Term) -> Finding:
    """The algebra for every gamma, and the exact worst case of one step."""
    import sympy

    from kappaguard.verify.theory.algebra import (
        StepFails,
        require_equal,
        require_nonnegative_coefficients,
    )

    h, delta, gradient, error, norm, beta, noise = sympy.symbols("h delta g xi R beta eta", real=True)
    mean_before, gradient_before, gradient_now = sympy.symbols("m p q", real=True)
    require_equal(
        "decomposition of delta_t",
        beta * mean_before + (1 - beta) * (gradient_now + noise) - gradient_now,
        beta * (mean_before - gradient_before) + (1 - beta) * noise + beta * (gradient_before - gradient_now),
    )
    require_equal(
        "eqn:dev_before_ab",
        (1 + h) * delta**2 + h * (1 + h) * norm**2 - (delta + h * norm) ** 2,
        h * (delta - norm) ** 2,
    )
    # One coordinate is enough: the squares below are sums over coordinates.
    aggregate = gradient + delta + error
    c, p, q = (term.symbolic() for term in (before, slope, wrong))
    stated = (1 + h) * (1 + c * h) * delta**2 + p * h * (1 + h) * gradient**2 + q * h * (1 + h) * error**2
    require_equal(
        "last display",
        stated - (1 + h) * delta**2 - h * (1 + h) * aggregate**2,
        h * (1 + h) * ((gradient + delta - error) ** 2 + 2 * (delta - gradient) ** 2),
    )
    report(1, 3)
    positive = sympy.Symbol("h", nonnegative=True)
    coefficients = {
        "delta": (1 + positive) * (1 + 4 * positive),
        "g": 4 * positive * (1 + positive),
        "xi": 2 * positive * (1 + positive),
    }
    exact = {"delta": 1 + positive, "g": positive, "xi": positive}
    ratio = sum(exact[name] ** 2 / coefficients[name] for name in exact)
    require_equal("worst ratio", ratio, (1 + positive) / (1 + 4 * positive) + 3 * positive / (4 * (1 + positive)))
    slack, _ = sympy.fraction(sympy.together(1 - ratio))
    require_nonnegative_coefficients("worst ratio <= 1", slack, positive)
    report(2, 3)
    step = 1 / LARGEST
    # The case of equality: each vector in proportion to its coefficient in the linear form over that in the bound.
    vectors = [float((exact[name] / coefficients[name]).subs(positive, sympy.Rational(1, LARGEST))) for name in exact]
    value, bound = one_step(step, *vectors)
    computed = value / bound
    if abs(computed - worst_ratio(step)) > 1e-12:
        raise StepFails(f"one step attains {computed}, the closed form is {worst_ratio(step)}")
    report(3, 3)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        computed,
        1.0,
        "Worst (exact step)/(bound) at gamma L = 1/24, attained on theta^2/2; it tends to 1 as gamma L -> 0. Holds for "
        "every gamma.",
    )


CLAIM = Claim(
    "momentum-deviation",
    "E||delta_t||^2 <= beta^2 c E||delta_{{t-1}}||^2 + {slope}h(1+h)beta^2 E||grad||^2 + (1-beta)^2 sigma^2/(n-f) "
    "+ {wrong}h(1+h)beta^2 E||xi_{{t-1}}||^2, h = gamma L, c = (1+h)(1+{before}h)",
    "appendix on D-SHB, lemma on momentum deviation (lem:dev)",
    "proved",
    check,
    scope="algebra",
    terms={"before": Term("4"), "slope": Term("4"), "wrong": Term("2")},
)
