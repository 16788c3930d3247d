"""The growth of the loss in one step (fourth lemma of D-SHB).

Problem: theta_t = theta_{t-1} - gamma R with R = g + delta + xi, g = grad L_H(theta_{t-1}), L_H is L-smooth.
Statement: with h = gamma L, E[2 L_H(theta_t) - 2 L_H(theta_{t-1})] <= - gamma (1 - 4h) E||g||^2
    + 2 gamma (1 + 2h) E||delta||^2 + 2 gamma (1 + h) E||xi||^2.
Computed: smoothness gives -2 gamma <g, R> + gamma h ||R||^2, with equality for L_H = L ||theta||^2 / 2, so the worst
    case of one step is this quadratic form. Stated minus exact, over gamma, is
    1/2 ||g + 2 delta||^2 + 1/2 ||g + 2 xi||^2 + h (||g + delta - xi||^2 + 2 ||delta - g||^2), checked with sympy: the
    lemma holds for every gamma. The smallest coefficient of ||delta||^2 that keeps it true, the others as they are, is
    a Schur complement; it tends to the stated 2 as h -> 0 (delta = xi = -g/2), so no coefficient can be lowered for
    all h. Solved also as a semidefinite program.
On the paper's proof: in eqn:last_term one grad L_H(theta_t) should be grad L_H(theta_{t-1}).
Reference: appendix on D-SHB, lem:growth_Q, eqn:norm_1, eqn:rho_1, eqn:rho_2, eqn:last_term.
"""

from __future__ import annotations

import contextlib

from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

LARGEST = 24
"""1 / (gamma L) at the largest step size of Theorem 2."""


def smallest_coefficient(solver: str | None = None) -> float:
    """The smallest coefficient of ||delta||^2 over gamma at gamma L = 1/24, as a semidefinite program."""
    import numpy as np

    from kappaguard.search.exact.conic import Program, packed, solve

    h = 1 / LARGEST
    free = np.zeros((3, 3))
    free[1, 1] = 1.0
    exact = h * np.ones((3, 3)) - np.array([[2.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    others = np.diag([-(1 - 4 * h), 0.0, 2 * (1 + h)])
    # the least coefficient for which others + coefficient * free - exact is semidefinite
    program = Program(np.ones(1), -packed(free)[:, None], packed(others - exact), 0, 0, 3)
    return float(solve(program, solver).point[0])


def check(_effort: Effort, report: Report, slope: Term, drift: Term, wrong: Term) -> Finding:
    """The algebra for every gamma, and the smallest coefficient."""
    import sympy

    from kappaguard.search.exact.conic import NoAnswer
    from kappaguard.verify.theory.algebra import StepFails, require_equal

    h, gradient, delta, error, loss_step = sympy.symbols("h g delta xi s", real=True)
    aggregate = gradient + delta + error
    exact = -2 * gradient * aggregate + h * aggregate**2
    point = sympy.Symbol("theta", real=True)
    # theta^2/2 with L = 1 and gamma = h attains it: 2 f(after) - 2 f(before) over gamma, gradient = theta.
    moved = (point - h * loss_step) ** 2 - point**2
    require_equal("equality on theta^2/2", moved, h * (-2 * point * loss_step + h * loss_step**2))
    p, q, r = (term.symbolic() for term in (slope, drift, wrong))
    stated = -(1 - p * h) * gradient**2 + q * (1 + 2 * h) * delta**2 + r * (1 + h) * error**2
    require_equal("eqn:rho_1", 2 * delta**2 + gradient**2 / 2 + 2 * delta * gradient, (gradient + 2 * delta) ** 2 / 2)
    require_equal(
        "eqn:last_term",
        4 * delta**2 + 4 * gradient**2 + 2 * error**2 - aggregate**2,
        (gradient + delta - error) ** 2 + 2 * (delta - gradient) ** 2,
    )
    squares = (gradient + 2 * delta) ** 2 / 2 + (gradient + 2 * error) ** 2 / 2
    squares += h * ((gradient + delta - error) ** 2 + 2 * (delta - gradient) ** 2)
    require_equal("last display", stated - exact, squares)
    report(1, 2)
    form = sympy.hessian(sympy.expand(stated - exact), (gradient, delta, error)) / 2
    minor = form.extract([0, 2], [0, 2])
    smallest = sympy.simplify(2 * (1 + 2 * h) - form.det() / minor.det())
    require_equal("limit of the smallest coefficient", sympy.limit(smallest, h, 0), 2)
    computed = float(smallest.subs(h, sympy.Rational(1, LARGEST)))
    with contextlib.suppress(NoAnswer):
        solved = smallest_coefficient()
        if abs(solved - computed) > 1e-6:
            raise StepFails(f"the program says {solved}, the Schur complement {computed}")
    report(2, 2)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        computed,
        float(drift()) * (1 + 2 / LARGEST),
        "Smallest possible against stated coefficient of gamma E||delta||^2 at gamma L = 1/24; equal as gamma L -> 0. "
        "Holds for every gamma.",
    )


CLAIM = Claim(
    "descent-bound",
    "2 E[L(theta_t) - L(theta_{{t-1}})] <= -gamma (1-{slope}h) E||grad||^2 + {drift} gamma (1+2h) E||delta_t||^2 "
    "+ {wrong} gamma (1+h) E||xi_t||^2, h = gamma L",
    "appendix on D-SHB, descent bound (lem:growth_Q)",
    "proved",
    check,
    scope="algebra",
    terms={"slope": Term("4"), "drift": Term("2"), "wrong": Term("2")},
)
