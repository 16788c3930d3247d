"""The trimmed mean when fewer workers attack than it is built for.

Problem: CWTM trims f values on either side, but only a <= f of the n workers are Byzantine; the criterion is that of
    the m = n-a honest ones.
Statement (ours): the smallest kappa is f/(n-f-a). With a = f this is f/(n-2f); with a = 0, when nobody attacks, it is
    f/(n-f): what robustness costs even then.
Proof. Let h_1 >= ... >= h_m be the honest values on the line. Among the f + i largest of all at least f + i - a are
    honest, so F is at most the mean of h_(f-a+1) .. h_(m-f), n-2f values, and m (F - mean) <= sum w_i h_i with w =
    m/(n-2f) - 1 there and -1 else. The non-increasing p = f/(m-f) (m-f times), -1 (f times) has the same sum 0 and
    partial sums at least those of w, so sum w_i h_i <= sum p_i h_i, and Cauchy gives |p|^2/m = f/(m-f). Attained by
    h = f (m-f times) and f - m (f times) with the Byzantine values at f: CWTM trims all that is not f. In R^d: claim
    coordinate-wise.
Computed: sums, partial sums and norm with sympy; witness and certificate of ``exact(..., actual=a)`` for all a.
Reference: kappaguard. ``kappaguard exact cwtm -n 17 -f 4 --actual 2`` has it for other rules.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term


def check(effort: Effort, report: Report, none: Term, all_of_them: Term) -> Finding:
    """The algebra, then witness and certificate over a grid."""
    import sympy

    from kappaguard.verify.judge.exact import exact

    m, f, a, i = sympy.symbols("m f a i", nonnegative=True)
    n = m + a
    inside = m / (n - 2 * f) - 1
    demand(equal(inside * (n - 2 * f) - (f - a) - f, 0), "w sums to zero")
    high = f / (m - f)
    demand(equal(high * (m - f) - f, 0), "p sums to zero")
    # from h_(f-a+1) on, the partial sums of w catch up with those of p, and meet them at m - f
    demand(equal((inside * (n - 2 * f) - (f - a)), high * (m - f)), "the partial sums meet at m - f")
    ahead = high * (m - f - i) - (inside * (n - 2 * f - i) - (f - a))
    more = sympy.Symbol("more", nonnegative=True)
    demand(
        nonnegative(ahead.subs(f, a + more).subs(m, a + 2 * more + 1 + sympy.Symbol("rest", nonnegative=True))),
        "and are behind before",
    )
    demand(equal((high**2 * (m - f) + f) / m, high), "the norm of p gives kappa")
    closed = f / (f / none.symbolic(n, f) - a)
    demand(equal(closed.subs(m, n - a), (f / (m - f)).subs(m, n - a)), "which is what is stated for a = 0")
    size = sympy.Symbol("n", positive=True)
    demand(equal((f / (size - 2 * f)), all_of_them.symbolic(size, f)), "and for a = f")
    most = effort.choose(7, 9, 13)
    cases = [(n, f, a) for n in range(3, most + 1) for f in range(1, (n + 1) // 2) for a in range(f + 1)] + [(17, 4, 2)]
    for done, (count, built, actual) in enumerate(cases, start=1):
        found = exact("cwtm", count, built, actual=actual)
        value = built / (built / none(count, built) - actual)
        demand(found.lower == found.upper == value, f"n = {count}, built for {built}, {actual} attack")
        report(done, len(cases))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(found.lower),
        float(Fraction(4) / (4 / none(17, 4) - 2)),
        f"Witness and certificate meet it at all {len(cases)} triples tried; shown: n = 17, built for f = 4, two "
        "attack.",
        relation="==",
        witness=found.witness,
    )


CLAIM = Claim(
    "cwtm-unknown-f",
    "kappa*(CWTM built for f) is f/(n-f-a) if a <= f workers attack: {none} if none does, {all_of_them} if f do",
    "kappaguard",
    "proved",
    check,
    scope="algebra",
    terms={"none": Term("f/(n-f)", 0), "all_of_them": Term("f/(n-2*f)", 0)},
)
