"""Rotation equivariance costs nothing in the worst case.

Problem: CWTM attains f/(n-2f), the least kappa of all rules, but depends on the choice of coordinates. Is there a rule
    that commutes with all rotations and translations, does not care about the order of its inputs, is deterministic,
    and has the same kappa?
Statement (ours): yes. For every S of n-f inputs let m_S and V_S be mean and variance, kappa = f/(n-2f), and let F(x) be
    the z with the smallest max over S of (||z - m_S||^2 - kappa V_S).
Proof. The maximum is ||z||^2 plus a maximum of linear functions, so it is strictly convex and grows at infinity: there
    is one minimiser. It is defined by distances between z and means, so it moves with every isometry of the inputs and
    does not see their order. CWTM is (f, kappa)-robust, which says that its output makes the maximum at most 0
    (claim closed-form-cwtm); so the minimiser does, which says that F is (f, kappa)-robust. No rule has less (claim
    universal-lower-bound). The average of CWTM over all rotations has these properties too, as the balls are convex; it
    needs an integral.
Computed: on random inputs the smallest maximum over all S, by a general solver (SLSQP), judged by evaluating the
    maximum; that it is at most 0 and that F turns with the inputs, whereas CWTM does not; and that on f inputs at -1,
    f at 1 and the rest at 0 it is 0, so that no smaller kappa will do.
Reference: kappaguard.
"""

from __future__ import annotations

from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

ROUNDED = 1e-7
Floats = NDArray[np.float64]


def balls(x: Floats, f: int, kappa: float) -> tuple[Floats, Floats]:
    """The means over all sets of n - f inputs, and kappa times the variances."""
    subsets = [list(chosen) for chosen in combinations(range(len(x)), len(x) - f)]
    means = np.array([x[chosen].mean(axis=0) for chosen in subsets])
    variances = np.array([((x[chosen] - x[chosen].mean(axis=0)) ** 2).sum(axis=1).mean() for chosen in subsets])
    return means, kappa * variances


def excess(z: Floats, means: Floats, squares: Floats) -> float:
    """The largest ||z - m_S||^2 - kappa V_S."""
    return float((((z - means) ** 2).sum(axis=1) - squares).max())


def centre(x: Floats, f: int, kappa: float) -> Floats:
    """The point with the smallest excess."""
    from scipy import optimize

    means, squares = balls(x, f, kappa)
    start = np.append(x.mean(axis=0), excess(x.mean(axis=0), means, squares))
    constraint: Any = {
        "type": "ineq",
        "fun": lambda v: v[-1] + squares - ((v[:-1] - means) ** 2).sum(axis=1),
        "jac": lambda v: np.hstack([-2 * (v[:-1] - means), np.ones((len(means), 1))]),
    }
    last = np.append(np.zeros(x.shape[1]), 1.0)
    # the stubs of scipy know no objective that is given beside its gradient for constraints as dictionaries
    minimize: Any = optimize.minimize
    found = minimize(
        itemgetter(-1),
        start,
        jac=lambda _: last,
        constraints=constraint,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return np.asarray(found.x[:-1])


def check(effort: Effort, report: Report, kappa: Term) -> Finding:
    """Random inputs, turned; and the two worlds."""
    from kappaguard.rules.names import rule
    from kappaguard.verify.theory.packs.fixing_by_mixing.byzantine_lower_bound import worlds_of_ours

    random = np.random.default_rng(1)
    sizes = effort.choose([(3, 1), (5, 2)], [(3, 1), (5, 1), (5, 2), (7, 2)], [(3, 1), (5, 2), (7, 3), (9, 2), (9, 4)])
    moved, tried = 0.0, effort.choose(8, 20, 100)
    for done, (n, f) in enumerate(sizes, start=1):
        value = float(kappa(n, f))
        for _ in range(tried):
            x = random.standard_normal((n, 3))
            x[: 1 + f] *= random.choice([1.0, 10.0])
            turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
            z, turned = centre(x, f, value), centre(x @ turn, f, value)
            size = float((x**2).sum())
            demand(excess(z, *balls(x, f, value)) <= ROUNDED * size, f"the balls meet at n = {n}, f = {f}")
            demand(float(((z @ turn - turned) ** 2).sum()) <= ROUNDED * size, "the centre turns with the inputs")
            built = rule("chebyshev", f=f)(x)
            demand(float(((z - built) ** 2).sum()) <= ROUNDED * size, "the rule chebyshev is this centre")
            trimmed = rule("cwtm", f=f)
            moved = max(moved, float(((trimmed(x) @ turn - trimmed(x @ turn)) ** 2).sum()) / size)
        worlds = np.array([[-1.0]] * f + [[0.0]] * (n - 2 * f) + [[1.0]] * f)
        least = excess(centre(worlds, f, value), *balls(worlds, f, value))
        demand(abs(least) <= ROUNDED, f"the balls of the two worlds touch at n = {n}, f = {f}")
        report(done, len(sizes))
    demand(moved > ROUNDED, "CWTM does not turn with the inputs")
    return Finding(
        "proved",
        ("symbolic", "simulated"),
        float(worlds_of_ours(17, 4).least_epsilon()),
        float(kappa(17, 4)),
        f"On {tried * len(sizes)} random inputs the balls meet, and their centre turns with the inputs. It is the rule "
        "chebyshev, which looks at all sets of n - f inputs, and agrees with the general solver used here.",
        relation="==",
    )


CLAIM = Claim(
    "rotation-free",
    "A deterministic rule that commutes with rotations has kappa* = {kappa}, the least of all rules",
    "kappaguard",
    "proved",
    check,
    scope="instances",
    terms={"kappa": Term("f/(n-2*f)", 0)},
)
