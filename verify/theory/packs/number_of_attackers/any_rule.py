"""What it costs any rule to tolerate f attackers when fewer attack, and what it costs to tolerate too few.

Problem: a rule is (f, kappa)-robust for some finite kappa, but a <= f of the n workers attack; the criterion is that of
    the m = n-a honest ones.
Statements: (1) for such a rule no kappa below f/(n-f-a) will do: arXiv 2510.04432 has this order. (2) When nobody
    attacks that is f/(n-f), and CWTM attains it: the tension between robustness and accuracy without attack (ICML
    2025). (3) A rule for fewer attackers than there are can be arbitrarily bad: CWTM is, always.
Proof of (1). Take n-f vectors at 0 and f at 1. The n-f at 0 may be all that is honest, and have no spread, so F = 0.
    But the honest vectors may as well be the f at 1 and m - f of the others: their mean is f/m, their variance
    f(m-f)/m^2, and the ratio f/(m-f). (2) is a = 0, with claim cwtm-unknown-f. (3) With g < f trimmed values on
    either side, honest zeros and f ones leave f - g ones among n - 2g values: the output is not 0, and there is no
    spread.
Computed: the ratio with sympy; that rules return 0 on the input of (1), and so have that ratio; the output of (3), in
    exact arithmetic.
Reference: arXiv 2510.04432; On the Tension between Byzantine Robustness and No-Attack Accuracy, ICML 2025.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.verify.theory.algebra import demand, equal, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term

RULES = ("cwtm", "cwmed", "krum", "meamed", "mda", "multikrum", "mva", "phocas")


def _array(values: list[int]) -> Any:
    return np.array([[Fraction(value)] for value in values], dtype=object)


def _ratio(n: int, f: int, a: int, output: Fraction) -> Fraction:
    """The ratio on n-f zeros and f ones, if the ones are honest and a of the zeros are not."""
    m = n - a
    mean = Fraction(f, m)
    spread = (f * (1 - mean) ** 2 + (m - f) * mean**2) / m
    return (output - mean) ** 2 / spread


def _cases(effort: Effort) -> list[tuple[int, int]]:
    most = effort.choose(8, 11, 17)
    return [(n, f) for n in range(3, most + 1) for f in range(1, (n + 1) // 2)]


def check_bound(effort: Effort, report: Report, none: Term, all_of_them: Term) -> Finding:
    """The ratio for all sizes; the input as all rules see it."""
    from kappaguard.rules.names import rule

    f, more, a = symbols("f more a")
    m = f + more
    mean = f / m
    spread = (f * (1 - mean) ** 2 + more * mean**2) / m
    demand(equal(mean**2 / spread, f / (m - f)), "the ratio of the input")
    n = m + a
    demand(equal(f / (f / none.symbolic(n, f) - a), f / (m - f)), "which is what is stated for a = 0")
    demand(equal(all_of_them.symbolic(m + f, f), f / (m - f)), "and for a = f")
    cases = _cases(effort)
    for done, (count, bad) in enumerate(cases, start=1):
        x = _array([0] * (count - bad) + [1] * bad)
        for name in RULES:
            output = rule(name, f=bad)(x)[0]
            demand(output == 0, f"{name} returns 0 at n = {count}, f = {bad}")
            for actual in range(bad + 1):
                stated = bad / (bad / none(count, bad) - actual)
                demand(_ratio(count, bad, actual, Fraction(output)) == stated, "and has that ratio")
        report(done, len(cases))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(_ratio(17, 4, 2, Fraction(0))),
        float(4 / (4 / none(17, 4) - 2)),
        f"{', '.join(RULES)} have that ratio at all {len(cases)} pairs tried. Shown: n = 17, a rule for f = 4, two "
        "attack.",
        relation=">=",
    )


def check_price(effort: Effort, report: Report, price: Term) -> Finding:
    """Bound and attainment when nobody attacks."""
    from kappaguard.verify.judge.exact import exact

    cases = [pair for pair in _cases(effort) if pair[0] <= effort.choose(6, 9, 13)] + [(17, 4)]
    for done, (n, f) in enumerate(cases, start=1):
        found = exact("cwtm", n, f, actual=0)
        demand(found.upper == price(n, f) == _ratio(n, f, 0, Fraction(0)), f"n = {n}, f = {f}")
        report(done, len(cases))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(found.lower),
        float(price(17, 4)),
        f"CWTM's certificate says so at all {len(cases)} pairs tried; shown: n = 17, f = 4.",
        relation="==",
        witness=found.witness,
    )


def check_underestimated(effort: Effort, report: Report) -> Finding:
    """CWTM for too few attackers on honest vectors without spread."""
    from kappaguard.rules.names import rule

    cases = _cases(effort)
    for done, (n, f) in enumerate(cases, start=1):
        x = _array([0] * (n - f) + [1] * f)
        for built in range(f):
            output = rule("cwtm", f=built)(x)[0]
            demand(output == Fraction(f - built, n - 2 * built) > 0, f"n = {n}, {f} attack, built for {built}")
        report(done, len(cases))
    return Finding(
        "proved",
        ("symbolic", "exact"),
        None,
        None,
        f"The output is (f-g)/(n-2g) and the honest vectors are all 0, at all {len(cases)} pairs (n, f) and all g < f "
        "tried.",
    )


CLAIMS = (
    Claim(
        "attackers-lower-bound",
        "a rule that tolerates f attackers has kappa >= f/(n-f-a) if a <= f attack: {none} if none does, {all_of_them} "
        "if f do",
        "arXiv 2510.04432, abstract: the order of this",
        "proved",
        check_bound,
        scope="algebra",
        terms={"none": Term("f/(n-f)", 0), "all_of_them": Term("f/(n-2*f)", 0)},
    ),
    Claim(
        "price-without-attack",
        "the least kappa of all rules that tolerate f attackers is {price} when nobody attacks",
        "On the Tension between Byzantine Robustness and No-Attack Accuracy (ICML 2025): the order of this",
        "proved",
        check_price,
        scope="algebra",
        terms={"price": Term("f/(n-f)", 0)},
    ),
    Claim(
        "attackers-underestimated",
        "CWTM built for g < f attackers has no finite kappa if f attack",
        "arXiv 2510.04432, abstract: underestimation can lead to arbitrarily poor performance",
        "proved",
        check_underestimated,
        scope="algebra",
    ),
)
