"""(f, kappa)-robustness implies resilient averaging, with which lambda?

Problem: F is (f, kappa)-robust. It is (f, lambda)-resilient if ||F - mean_S|| <= lambda max over S of ||x_i - x_j||.
Statements: (1) appendix: lambda = sqrt(kappa/2). (2) The footnote to the definition: it is enough to have
    kappa = sqrt(lambda), that is lambda = kappa^2. The two disagree: kappa^2 < sqrt(kappa/2) for kappa < 2^(-1/3).
    (3) Ours: lambda = sqrt(kappa (m-1)/(2m)) with m = n-f, which CWTM attains at n = 2f+1.
Computed: (1), (3) the variance is the mean of ||x_i - x_j||^2 / 2 over all m^2 ordered pairs, m of which are zero, so
    it is at most (m-1)/(2m) times the squared diameter, with equality for a regular simplex. CWTM at n = 2f+1 with
    the honest vectors e_1 .. e_m attains (3). (2) CWTM at n = 17, f = 4 has kappa* = 4/9, so lambda would be 16/81 =
    0.198; on the input of the universal lower bound its error is 4/13 = 0.308 times the diameter. The footnote is
    right with kappa = 2 lambda^2.
Reference: appendix A.3 (prop:kappa-lambda); footnote to Definition 1.
"""

from __future__ import annotations

import math
from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled, simplex

RULES = ("cwtm", "cwmed", "gm", "krum", "meamed", "mda", "multikrum")


def check_lambda(effort: Effort, report: Report, half: Term) -> Finding:
    """lambda^2 of known worst inputs against kappa*/2, for every rule."""
    import sympy

    m = sympy.Symbol("m", positive=True)
    demand(equal(m * (m - 1) / (2 * m**2), (m - 1) / (2 * m)), "m of the m^2 pairs are zero")
    demand(half() >= sympy.limit((m - 1) / (2 * m), m, sympy.oo), "which is below that for every m, and no less")
    pairs = grid(effort, 6, 8, 10)
    best = None
    for done, (n, f) in enumerate(pairs):
        for rule in RULES:
            kappa = kappa_star(rule, n, f)
            assert kappa.witness is not None
            assert kappa.upper is not None
            inputs = [kappa.witness.x, simplex(n, f)]
            for witness in (settled(rule, f, x, criterion="diameter") for x in inputs):
                share = float(witness.lower / (kappa.upper * half()))
                demand(witness.lower <= kappa.upper / 2 * Fraction(n - f - 1, n - f), f"{rule} is within (3)")
                if best is None or share > best[0]:
                    best = (share, witness, kappa.upper)
        report(done + 1, len(pairs))
    assert best is not None
    share, witness, kappa_upper = best
    return Finding(
        "proved",
        ("symbolic", "exact"),
        math.sqrt(witness.lower),
        math.sqrt(kappa_upper * half()),
        f"The tightest on the grid is {witness.rule} at n = {witness.n}, f = {witness.f}; the rest is the factor "
        "sqrt(1 - 1/(n-f)) of kappa-lambda-sharp.",
        witness=witness,
    )


def check_footnote(_effort: Effort, _report: Report) -> Finding:
    """CWTM at n = 17, f = 4."""
    n, f = 17, 4
    kappa = kappa_star("cwtm", n, f).upper
    assert kappa is not None
    witness = settled("cwtm", f, [[0]] * (n - f) + [[1]] * f, range(f, n), "diameter", "universal lower bound")
    allowed = kappa**2
    demand(witness.lower > allowed**2, "the error is larger than lambda times the diameter")
    return Finding(
        "refuted",
        ("exact",),
        math.sqrt(witness.lower),
        float(allowed),
        "CWTM at n = 17, f = 4 is (4, 4/9)-robust, certified, and kappa = sqrt(lambda) would make lambda = 16/81; "
        "an input has error 4/13 of the diameter.",
        witness=witness,
    )


def check_sharp(effort: Effort, _report: Report, share: Term) -> Finding:
    """CWTM at n = 2f + 1 on a simplex attains it."""
    import sympy

    m = sympy.Symbol("m", positive=True)
    demand(equal(share.symbolic(m, 0), m * (m - 1) / (2 * m**2)), "m of the m^2 pairs are zero")
    shares = []
    for f in effort.choose([1, 2, 4, 8], [1, 2, 4, 8, 12], range(1, 20)):
        n = 2 * f + 1
        witness = settled("cwtm", f, simplex(n, f), criterion="diameter", found_by="simplex")
        kappa = kappa_star("cwtm", n, f).upper
        assert kappa is not None
        shares.append((witness, kappa * share(n, f)))
        demand(witness.lower == shares[-1][1], f"equality at f = {f}")
    witness, value = shares[-1]
    return Finding(
        "proved",
        ("symbolic", "exact"),
        math.sqrt(witness.lower),
        math.sqrt(value),
        f"Equality for CWTM at n = 2f+1 on the unit vectors, for {len(shares)} values of f.",
        witness=witness,
    )


def check_footnote_corrected(_effort: Effort, _report: Report, factor: Term) -> Finding:
    """kappa = 2 lambda^2 is statement (1) solved for kappa."""
    import sympy

    value = sympy.Symbol("lambda", positive=True)
    demand(equal(sympy.sqrt(factor.symbolic() * value**2 / 2), value), "lambda = sqrt(kappa/2)")
    n, f = 17, 8
    witness = settled("cwtm", f, simplex(n, f), criterion="diameter", found_by="simplex")
    kappa = kappa_star("cwtm", n, f).upper
    assert kappa is not None
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(factor() * witness.lower),
        float(kappa),
        "kappa-lambda, solved for kappa. Shown: 2 lambda^2 of an input of CWTM at n = 17, f = 8, against its kappa*.",
        witness=witness,
    )


CLAIMS = (
    Claim(
        "kappa-lambda",
        "an (f, kappa)-robust rule is (f, lambda)-resilient with lambda^2 = {half} kappa",
        "appendix A.3 (prop:kappa-lambda)",
        "proved",
        check_lambda,
        scope="algebra",
        terms={"half": Term("1/2")},
    ),
    Claim(
        "kappa-lambda-footnote",
        "for (f, lambda)-resilient averaging, kappa = sqrt(lambda) suffices",
        "footnote to Definition 1",
        "refuted",
        check_footnote,
        kind="misprint",
    ),
    Claim(
        "kappa-lambda-footnote-corrected",
        "for (f, lambda)-resilient averaging, kappa = {factor} lambda^2 suffices",
        "kappaguard",
        "proved",
        check_footnote_corrected,
        corrects="kappa-lambda-footnote",
        scope="algebra",
        terms={"factor": Term("2", 0)},
    ),
    Claim(
        "kappa-lambda-sharp",
        "lambda^2 = kappa {share} will do, an equality for CWTM at n = 2f+1",
        "kappaguard",
        "proved",
        check_sharp,
        scope="algebra",
        terms={"share": Term("(n-f-1)/(2*(n-f))", 0)},
    ),
)
