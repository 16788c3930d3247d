"""No algorithm withstands as many Byzantine workers as honest ones.

Problem: (f, epsilon)-Byzantine resilience (Definition 1) with f >= n/2.
Statement: it is impossible in general, for any epsilon.
Proof. Let the loss of worker i be (theta - z_i)^2/2, with z = 0 for n - f workers, z = Z for another n - f
    (2(n-f) <= n) and anything for the rest. Honest are the first, or the second; the algorithm sees the same in both
    worlds. Each has G = 0, and the gradients at the output are theta and theta - Z: one of them is at
    least Z/2 in size, and Z is anything: no epsilon will do, even without heterogeneity.
Computed: the least of the larger squared gradient, Z^2/4 at theta = Z/2, with sympy, and that the two
    disjoint worlds are there exactly if f >= n/2, for all n <= 12.
Reference: the sentence after Definition 1 (def:resilience), which cites Liu, Gupta, Vaidya, "Approximate
    Byzantine fault-tolerance in distributed optimization", PODC 2021.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

SIZES = range(2, 13)


def disjoint_worlds(n: int, f: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Two sets of n - f workers that share nobody, either of which may be the honest one."""
    m = n - f
    return (tuple(range(m)), tuple(range(m, 2 * m))) if 2 * m <= n else None


def check(_effort: Effort, report: Report, share: Term) -> Finding:
    """Where the two worlds are, and what they cost."""
    import sympy

    theta, apart = sympy.symbols("theta Z", real=True)
    middle = apart / 2
    demand(equal((theta**2).subs(theta, middle), ((theta - apart) ** 2).subs(theta, middle)), "both are equal there")
    demand(equal(theta**2 + (theta - apart) ** 2 - 2 * (theta - middle) ** 2, apart**2 / 2), "one is Z^2/4 or more")
    for n in SIZES:
        for f in range(n):
            there = disjoint_worlds(n, f) is not None
            demand(there == (f >= share() * n), f"n = {n}, f = {f}")
    report(1, 1)
    least = min(Fraction(f, n) for n in SIZES for f in range(n) if disjoint_worlds(n, f))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(least),
        float(share()),
        "Two worlds without heterogeneity that look the same; the squared gradient of one of them is beyond every "
        "epsilon.",
        relation="==",
    )


CLAIM = Claim(
    "minority",
    "(f, epsilon)-Byzantine resilience is impossible for every epsilon if f >= {share} n",
    "after Definition 1 (def:resilience)",
    "proved",
    check,
    scope="algebra",
    terms={"share": Term("1/2", 0)},
)
