"""kappa* of minimum diameter averaging, which the paper leaves open.

Problem: the smallest kappa for which MDA (the mean of the m = n-f vectors of least diameter) is (f, kappa)-robust.
Statement (ours): with r = n-2f-1 and 1 <= f,

    m kappa*(MDA) = (f+1)^2 + f^2 + f^2/r + f - 1   for r >= 1,     (f+1)^2 + 4 f^2 + f - 1   for n = 2f+1;

    a supremum that is not attained.
Proof. Let W be selected, q <= f of its vectors Byzantine, and q honest ones (out) left out; let first and second be the
    honest pair that is farthest apart, D = ||second - first|| = <second - first, v>. Every distance within W is at most
    D. So for unit u along the error and any weights t >= 0 of sum 1 on the honest vectors within W,
        m ||error|| = <sum b - sum out, u> <= q <sum t_i x_i, u> + q D - <sum out, u> = sum <a_i u + c_i v, x_i>,
    with a = -1 on out and q t_i within W, c = q at second, -q at first, 0 elsewhere. Both sum to 0, so Cauchy gives
    m kappa <= sum ||a_i u + c_i v||^2 with <u, v> <= 1. By the places of first and second:
    - first out, second in W, t uniform on the r_q = m-q-1 others within: (q+1)^2 + q^2 + q^2/r_q + q - 1, or, if
      there are none, (q+1)^2 + 4 q^2 + q - 1;
      (first in, second out: the same with -v for v);
    - both in or both out, t uniform: the terms in <u, v> cancel: 2 q^2 + q + q^2/(m-q), which is less.
    All grow with q, so q = f is the worst. Approached on a line: -(f+1), f-1 values at -1, one at f, r at f/r (one at
    2f if r = 0), the Byzantine ones just under D above the lowest of the latter: any other m vectors are wider apart.
Computed: the sums, their order and the ratio of the limit with sympy; certificates (semidefinite duals) and witnesses
    over a grid.
Reference: kappaguard.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.closed_form import compare
from kappaguard.verify.theory.coefficients import OURS
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, kappa: Term, narrow: Term) -> Finding:
    """The three cells, their order, the limit of the witness, then the grid."""
    import sympy

    q, r, extra = symbols("q r extra")
    angle = sympy.Symbol("angle", real=True)

    def length(a: Any, c: Any) -> Any:
        return a**2 + c**2 + 2 * a * c * angle

    apart = length(-1, -q) + length(0, q) + r * length(q / r, 0) + (q - 1)
    worst = (q + 1) ** 2 + q**2 + q**2 / r + q - 1
    demand(equal(worst - apart, 2 * q * (1 - angle)), "first out, second in: largest for <u, v> = 1")
    inside = r + 1
    together = length(q / inside, -q) + length(q / inside, q) + (inside - 2) * length(q / inside, 0) + q
    outside = length(-1, -q) + length(-1, q) + inside * length(q / inside, 0) + (q - 2)
    less = 2 * q**2 + q + q**2 / inside
    demand(equal(together, less) and equal(outside, less), "both in, or both out: <u, v> cancels")
    shifted = {r: extra + 1}
    demand(nonnegative((worst - less).subs(shifted)), "which is less")
    # one more Byzantine vector in W leaves one fewer beside it
    step = worst.subs({q: q + 1, r: extra + 1}, simultaneous=True) - worst.subs({r: extra + 2})
    demand(nonnegative(step), "the cells grow with q")
    alone = (q + 1) ** 2 + 4 * q**2 + q - 1
    demand(equal(length(q, q).subs(angle, 1), 4 * q**2), "with no other vector in W, second has both terms")
    demand(nonnegative(alone.subs(q, q + 1) - worst.subs(r, 1)), "the last step to n = 2f + 1 grows as well")
    demand(nonnegative(alone - less.subs(r, 0)), "and both out is less there too")
    values = [(-(q + 1), 1), (-1, q - 1), (q, 1), (q / r, r)]
    m = q + r + 1
    demand(equal(sum(value * count for value, count in values), 0), "the witness has mean zero")
    output = (q + q + q * (q / r + 2 * q + 1)) / m
    spread = sum(value**2 * count for value, count in values) / m
    demand(equal(output, spread), "the limit of its output is its variance")
    demand(equal(output**2 / spread, worst / m), "so its ratio is kappa*")
    n, f = sympy.symbols("n f", integer=True, positive=True)
    named = {q: f, r: n - 2 * f - 1}
    demand(equal((worst / m).subs(named, simultaneous=True), kappa.symbolic(n, f)), "which is what is stated")
    demand(equal(alone.subs(q, f) / (f + 1), narrow.symbolic(2 * f + 1, f)), "and at n = 2f + 1")
    about = "Proved for all n, f and d in the docstring; the paper gives none."

    def closed(size: int, bad: int) -> Fraction:
        return (narrow if size == 2 * bad + 1 else kappa)(size, bad)

    return compare("mda", closed, effort, report, about, default=9)


CLAIM = Claim(
    "closed-form-mda",
    "kappa*(MDA) = {kappa}, and {narrow} if n = 2f+1",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"kappa": Term(OURS["mda"].expression, 0), "narrow": Term("((f+1)**2+4*f**2+f-1)/(f+1)", 0)},
)
