"""(f, kappa)-robustness implies agnostic robust aggregation, with which constant?

Problem: F is (f, kappa)-robust, 1 <= f <= delta_max n, delta_max < 1/2, m = n-f. F is a (delta_max, c)-ARAgg if
    E ||F - mean_S||^2 <= c (f/n) rho^2 whenever E ||X_i - X_j||^2 <= rho^2 for all i, j in S.
Statements: (1) c = kappa n/(2f), for fixed vectors and (2) for random ones; (3) "if kappa is O(f/(n-2f)), then c =
    O(1)".
Computed: (1) the pairwise ratio of simplex inputs against kappa* n/(2f). (2) Integrating (1) is linear, so it holds;
    and for a rule that does not care about order, the honest vectors of a worst input in random order have E ||X_i -
    X_j||^2 equal for all pairs, namely 2m/(m-1) V: so the constant is kappa* n/(2f) (m-1)/m exactly. (3) The proof
    writes kappa <= 2 M (1 - 2 delta_max) f/(n-2f) "for some absolute constant M". From kappa <= C f/(n-2f) it follows
    with M = C / (2 (1 - 2 delta_max)), which depends on delta_max. No absolute constant will do: CWTM has kappa* =
    f/(n-2f), and at n = 2f+1 on the unit vectors its c is at least f (2f+1) / (2f+2), which grows without bound.
Corrected: c <= C / (2 (1 - 2 delta_max)), a constant for fixed delta_max < 1/2; or: kappa <= C f/n gives c <= C/2,
    which is what the main text says after Definition 1.
Reference: appendix A.3, proposition on ARAgg.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import grid, kappa_star, settled, simplex, text

RULES = ("cwtm", "cwmed", "gm", "krum", "meamed", "mda", "multikrum")


def check_fixed(effort: Effort, report: Report, factor: Term) -> Finding:
    """The pairwise ratio of known worst inputs."""
    n_any, f_any, kappa_any = symbols("n f kappa")
    demand(equal(kappa_any * factor.symbolic(n_any, f_any) * f_any / n_any, kappa_any / 2), "c f/n = kappa/2")
    pairs = grid(effort, 6, 8, 10)
    best = None
    for done, (n, f) in enumerate(pairs):
        for rule in RULES:
            kappa = kappa_star(rule, n, f)
            assert kappa.witness is not None
            assert kappa.upper is not None
            stated = kappa.upper * factor(n, f)
            for x in (kappa.witness.x, simplex(n, f)):
                witness = settled(rule, f, x, criterion="pairwise")
                demand(witness.lower <= stated, f"{rule} at n = {n}, f = {f}")
                if best is None or witness.lower / stated > best[0]:
                    best = (witness.lower / stated, witness, stated)
        report(done + 1, len(pairs))
    assert best is not None
    _, witness, stated = best
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(witness.lower),
        float(stated),
        f"Nothing above it; the tightest is {witness.rule} at n = {witness.n}, f = {witness.f} on the unit vectors, "
        "short of it by the factor (m-1)/m.",
        witness=witness,
    )


def check_random(_effort: Effort, _report: Report, factor: Term) -> Finding:
    """The honest vectors of a worst input in random order."""
    n, f = 17, 4
    m = n - f
    result = kappa_star("cwtm", n, f)
    witness = result.witness
    assert witness is not None
    assert result.upper is not None
    values = [witness.x[i][0] for i in witness.subset]
    spread = sum(((a - sum(values) / m) ** 2 for a in values), Fraction(0)) / m
    apart = sum(((a - b) ** 2 for a in values for b in values), Fraction(0)) / (m * (m - 1))
    demand(apart == spread * Fraction(2 * m, m - 1), "the expected squared distance of a pair")
    reached = witness.lower * spread / (Fraction(f, n) * apart)
    stated = result.upper * factor(n, f)
    demand(reached == stated * Fraction(m - 1, m), "the constant of the random order")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(reached),
        float(stated),
        "Expectations keep the inequality. A worst input in random order attains (m-1)/m of it, for every rule "
        "that does not care about order; so kappa n/(2f) (m-1)/m is the exact constant. Shown: CWTM at n = 17, f = "
        "4.",
        witness=witness,
    )


def check_absolute(effort: Effort, _report: Report) -> Finding:
    """CWTM at n = 2f + 1."""
    import sympy

    size = sympy.Symbol("f", positive=True)
    demand(sympy.limit(size * (2 * size + 1) / (2 * size + 2), size, sympy.oo) == sympy.oo, "c grows without bound")
    f = effort.choose(8, 20, 60)
    n = 2 * f + 1
    witness = settled("cwtm", f, simplex(n, f), criterion="pairwise", found_by="simplex")
    demand(witness.lower == Fraction(f * (2 * f + 1), 2 * f + 2), "c at n = 2f+1")
    demand(kappa_star("cwtm", n, f).upper == f, "while kappa* = f/(n-2f) = f")
    return Finding(
        "refuted",
        ("exact", "symbolic"),
        float(witness.lower),
        None,
        f"CWTM has kappa* = f/(n-2f) for all (n, f), yet at n = {n}, f = {f} its c is at least "
        f"{text(witness.lower)}, about f: the constant in the proof is not absolute, it is C/(2(1 - 2 delta_max)).",
        witness=witness,
    )


def check_depends(_effort: Effort, _report: Report, half: Term) -> Finding:
    """c <= C/(2(1-2 delta_max)) by algebra, and attained in the limit."""
    import sympy

    f, gap, more, factor = symbols("f gap more factor")
    # n = 2f + gap; delta_max >= f/n means n/(n-2f) <= 1/(1-2 delta_max) =: n/(n-2f) + more
    n = 2 * f + gap
    implied = factor * f / gap * n / (2 * f)
    demand(
        nonnegative(sympy.cancel(factor * (n / gap + more) * half.symbolic() - implied)), "c <= C/(2(1-2 delta_max))"
    )
    demand(equal(factor * f / n * n / (2 * f), factor * half.symbolic()), "kappa = C f/n gives c = C/2")
    n_shown, f_shown = 17, 8
    witness = settled("cwtm", f_shown, simplex(n_shown, f_shown), criterion="pairwise", found_by="simplex")
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(witness.lower),
        float(half() * Fraction(n_shown, n_shown - 2 * f_shown)),
        "With kappa <= C f/(n-2f), c = kappa n/(2f) <= C/(2(1 - 2 delta_max)). Shown: CWTM (C = 1) at n = 17, f = "
        "8, with delta_max = f/n.",
        witness=witness,
    )


CLAIMS = (
    Claim(
        "kappa-aragg",
        "for fixed vectors, an (f, kappa)-robust rule is a (delta_max, c)-ARAgg with c = kappa {factor}",
        "appendix A.3, proposition on ARAgg",
        "proved",
        check_fixed,
        scope="algebra",
        terms={"factor": Term("n/(2*f)")},
    ),
    Claim(
        "kappa-aragg-random",
        "the same for random vectors, c = kappa {factor}",
        "appendix A.3, proposition on ARAgg",
        "proved",
        check_random,
        scope="algebra",
        terms={"factor": Term("n/(2*f)")},
    ),
    Claim(
        "kappa-aragg-constant",
        "if kappa is O(f/(n-2f)) then c = O(1), with an absolute constant as the proof says",
        "appendix A.3, proposition on ARAgg",
        "refuted",
        check_absolute,
        kind="proof step",
    ),
    Claim(
        "kappa-aragg-constant-corrected",
        "if kappa <= C f/(n-2f) then c <= {half} C/(1 - 2 delta_max); if kappa <= C f/n then c <= {half} C",
        "kappaguard",
        "proved",
        check_depends,
        corrects="kappa-aragg-constant",
        scope="algebra",
        terms={"half": Term("1/2")},
    ),
)
