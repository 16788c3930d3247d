"""Table 1 of the paper: the coefficients without their numerical constants.

Problem: Table 1 lists kappa of GM, CWTM, CWMed and Krum and a lower bound, "ignoring numerical constants", and its
    caption says that the analysis is tight.
Statements: (1) every entry is the appendix's coefficient divided by a number; (2) if n >= (2 + nu) f, every entry is
    kappa* up to constants that depend on nu only ("tight in order of magnitude", end of appendix A.2); (3) the caption
    alone: tight for all f < n/2.
Computed: (1) the quotients with sympy: 4, 6, 4, 6, 1. (2) With a = 1/nu >= f/(n-2f): the entries of GM, CWMed and
    Krum are between 1 and (1 + a)^2 and their kappa* at least 1/2 (claim rule-lower-bound-half), that of CWTM is at
    most 1 + a times its kappa*. (3) At n = 2f + 1, kappa*/entry is 1/(f+1) for CWTM and f/(f+1)^2 for GM and CWMed,
    which tends to 0: the entries are too large by a factor 1 + f/(n-2f). The table with kappa* in it would read
    floor(n/2)/(ceil(n/2)-f) for GM, f/(n-2f) for CWTM and (m-k)/k for CWMed: of order 1 + f/(n-2f), f/(n-2f), 1 +
    f/(n-2f) (claims closed-form-*).
Reference: Table 1 (tab:kappa) and its caption; end of appendix A.2.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report, Sides
from kappaguard.verify.theory.coefficients import TABLE_CWMED, TABLE_CWTM, TABLE_GM, TABLE_KRUM, ClosedForm, table_one
from kappaguard.verify.theory.instance import Record, integer, record, refuted
from kappaguard.verify.theory.worst import grid, kappa_star, on_grid, text

ENTRIES: tuple[ClosedForm, ...] = (TABLE_GM, TABLE_CWTM, TABLE_CWMED, TABLE_KRUM)


def check_constants(_effort: Effort, _report: Report) -> Finding:
    """The appendix divided by the table."""
    rows = table_one()
    demand([row.constant for row in rows] == [4, 6, 4, 6, 1], "the constants are 4, 6, 4, 6 and 1")
    listed = ", ".join(f"{row.name} {row.constant}" for row in rows)
    return Finding(
        "proved",
        ("symbolic",),
        float(max(row.constant for row in rows)),
        6.0,
        f"The constants that the table leaves out: {listed}.",
    )


def check_order(effort: Effort, report: Report) -> Finding:
    """Two-sided bounds with constants that depend on nu, here nu = 1 (n >= 3f), and in general by algebra."""
    # share = f/(n-2f) is at most a = 1/nu; slack is what is missing
    share, slack = symbols("share slack")
    demand(nonnegative((1 + share + slack) ** 2 - (1 + share) ** 2), "GM and CWMed are at most (1 + a)^2")
    demand(equal(share * (1 + share) / share, 1 + share), "CWTM is 1 + f/(n-2f) times its kappa*")
    worst = Fraction(0)
    pairs = [(n, f) for n, f in grid(effort, 10, 13, 17) if n >= 3 * f]
    for done, form in enumerate(ENTRIES):
        (rule,) = form.rules
        for (n, f), result in on_grid(rule, pairs, lambda *_: None).items():
            demand(result.lower >= Fraction(1, 8) * Fraction(form(n, f)), f"{rule} at n = {n}, f = {f}")
            worst = max(worst, Fraction(form(n, f)) / Fraction(result.lower))
        report(done + 1, len(ENTRIES))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(worst),
        8.0,
        f"For n >= 3f no entry is more than {text(worst)} times kappa* (allowed here: (1 + 1/nu)^2 / (1/2) = 8).",
    )


def within(data: Record) -> Sides:
    """Whether CWTM's entry is at most a constant times its kappa*: at n = 2f + 1 with f equal to the constant."""
    constant = integer(data, "constant", 1)
    result = kappa_star("cwtm", 2 * constant + 1, constant)
    assert result.upper is not None
    return Sides(Fraction(TABLE_CWTM(2 * constant + 1, constant)) / Fraction(result.upper), "<=", Fraction(constant))


def check_caption(effort: Effort, _report: Report) -> Finding:
    """n = 2f + 1: the quotient of kappa* and the entry tends to zero."""
    import sympy

    f = sympy.Symbol("f", positive=True)
    quotients = {"cwtm": f / (f * (1 + f)), "gm": f / (1 + f) ** 2, "cwmed": f / (1 + f) ** 2}
    demand(all(sympy.limit(each, f, sympy.oo) == 0 for each in quotients.values()), "the quotients tend to zero")
    big = effort.choose(50, 200, 1000)
    for form in (TABLE_GM, TABLE_CWTM, TABLE_CWMED):
        result = kappa_star(form.rules[0], 2 * big + 1, big)
        assert result.upper is not None
        entry = Fraction(form(2 * big + 1, big))
        demand(result.upper * big <= entry, f"{form.rules[0]} is below its entry by 1/f")
    shown = record("table-1-caption", constant=big)
    return refuted(
        ("symbolic", "exact"),
        within(shown),
        f"At n = 2f+1, f = {big}, kappa* of CWTM is 1/{big + 1} of its entry and kappa* of GM and CWMed about the "
        "same share of theirs: no constant makes the table tight without n >= (2 + nu) f.",
        shown,
    )


CLAIMS = (
    Claim(
        "table-1",
        "Table 1 is the appendix up to numerical constants",
        "Table 1 (tab:kappa)",
        "proved",
        check_constants,
        scope="algebra",
    ),
    Claim(
        "table-1-order",
        "if n >= (2 + nu) f, the entries of Table 1 are kappa* up to constants of nu",
        "end of appendix A.2",
        "proved",
        check_order,
        scope="instances",
    ),
    Claim(
        "table-1-caption",
        "the caption without that condition: the analysis is tight up to constants for all f < n/2",
        "caption of Table 1 (tab:kappa)",
        "refuted",
        check_caption,
        sides=within,
        kind="reading",
    ),
)
