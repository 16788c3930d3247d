"""Lemma 1: nearest neighbour mixing amplifies robustness.

Problem: F is (f, kappa)-robust, f < n/2; what is kappa' of F after NNM?
Statements: (1) kappa' <= 8f/(n-f) (kappa + 1). (2) The proof uses Young's inequality with c = 1/kappa, which needs
    kappa > 0. (3) If kappa = O(1), kappa' is optimal up to a constant.
Computed: (1) Young's step, (1 + 1/kappa) kappa = 1 + kappa, with sympy; the rest is claim bias-variance. Below it,
    the best ratio found for NNM in front of each rule, re-evaluated exactly, against the lemma with the exact kappa*
    of the rule: an input of the search, the two groups of claim bias-variance, and the rule's own worst input. (2)
    For kappa = 0, F(y) = mean_S y, and the error is the bias alone, at most 8f/(n-f) V: the lemma holds. (kappa = 0
    is possible for f = 0 only, by the universal lower bound.) (3) kappa' (n-2f)/f <= 8 (kappa+1) (n-2f)/(n-f) < 8
    (kappa + 1). The proof's first line calls (y_1 .. y_n) the output of F after NNM; it is that of NNM.
Reference: Lemma 1 (lem:cenna), proof in appendix B.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.verify.theory.algebra import demand, equal, nonnegative, symbols
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.term import Term
from kappaguard.verify.theory.worst import kappa_star, settled, text

RULES = ("cwtm", "cwmed", "meamed", "krum", "gm", "mda", "multikrum")


def check_lemma(effort: Effort, report: Report, factor: Term) -> Finding:
    """The algebra, then the best ratio found for every rule."""
    from kappaguard.rules.names import rule as named
    from kappaguard.search.probe import probe, ratio_score
    from kappaguard.verify.theory.packs.fixing_by_mixing.bias_variance import two_groups

    kappa = symbols("kappa")
    demand(equal((1 + 1 / kappa) * kappa, 1 + kappa), "Young's step")
    m, bad, total = symbols("m f total")
    # the pivot lemma at every x_i, summed: 4f/m^3 times the sum over ordered pairs, which is 2 m total
    demand(equal(4 * bad / m**3 * (2 * m * total), factor.symbolic() * bad / m * total / m), "claim bias-variance")
    settings = effort.choose(
        [(5, 1), (9, 2)], [(5, 1), (5, 2), (9, 2), (17, 4)], [(5, 1), (5, 2), (9, 2), (17, 4), (17, 8)]
    )
    rounds = effort.choose(6, 60, 400)
    best = None
    tried = 0
    for done, (n, f) in enumerate(settings):
        for rule in RULES:
            behind = kappa_star(rule, n, f)
            assert behind.upper is not None
            assert behind.witness is not None
            stated = factor() * Fraction(f, n - f) * (behind.upper + 1)
            inputs = [two_groups(n, f), list(map(list, behind.witness.x))]
            if rule in ("cwtm", "cwmed", "krum"):
                found = probe(ratio_score(named(f"nnm+{rule}", f=f), n, f), n, f, rounds, seed=4)
                tried += found.evaluations
                inputs.append(found.rational())
            for x in inputs:
                witness = settled(f"nnm+{rule}", f, x)
                demand(witness.lower <= stated, f"the lemma for {rule} at n = {n}, f = {f}")
                if best is None or witness.lower / stated > best[0]:
                    best = (witness.lower / stated, witness, stated)
        report(done + 1, len(settings))
    assert best is not None
    share, witness, stated = best
    return Finding(
        "proved",
        ("symbolic", "exact", "search"),
        float(witness.lower),
        float(stated),
        f"The largest share of the bound that any input reaches is {text(share)}: {witness.rule} at n = {witness.n}, "
        f"f = {witness.f}, with the exact kappa* of the rule ({tried} inputs searched). One half is the most: see "
        "lemma-1-nnm-sharp.",
        witness=witness,
    )


def check_zero(_effort: Effort, _report: Report, factor: Term) -> Finding:
    """kappa = 0: f = 0, where NNM and the lemma's bound are trivial, and the bias alone for any f."""
    from kappaguard.verify.theory.packs.fixing_by_mixing.bias_variance import reduction, two_groups

    witness = settled("nnm+average", 0, [[0], [1], [5]])
    demand(witness.upper == 0, "with f = 0 every vector becomes the mean")
    n, f = 17, 4
    reached, stated = reduction(two_groups(n, f), f), factor() * Fraction(f, n - f)
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(reached),
        float(stated),
        "c = 1/kappa is undefined, but then F(y) = mean_S y and the error is the bias, which claim bias-variance "
        "bounds. Shown: variance + bias at n = 17, f = 4.",
    )


def check_optimal(_effort: Effort, _report: Report, factor: Term) -> Finding:
    """kappa' over the universal lower bound."""
    f, gap, kappa = symbols("f gap kappa")
    n = 2 * f + gap + 1
    share = 8 * f / (n - f) * (kappa + 1) * (n - 2 * f) / f
    demand(nonnegative(factor.symbolic() * (kappa + 1) - share), "kappa' is at most that many times f/(n-2f)")
    reached = share.subs({f: 4, gap: 8, kappa: 0})
    return Finding(
        "proved",
        ("symbolic",),
        float(reached),
        float(factor()),
        "kappa' over the lower bound f/(n-2f) is 8 (kappa+1) (n-2f)/(n-f), less than 8 (kappa+1). Shown without "
        "kappa+1 at n = 17, f = 4.",
    )


CLAIMS = (
    Claim(
        "lemma-1-nnm",
        "if F is (f, kappa)-robust, F after NNM is (f, kappa')-robust with kappa' <= {factor} f/(n-f) (kappa+1)",
        "Lemma 1 (lem:cenna)",
        "proved",
        check_lemma,
        scope="algebra",
        terms={"factor": Term("8")},
    ),
    Claim(
        "lemma-1-nnm-kappa-zero",
        "Lemma 1 at kappa = 0, where the proof divides by kappa: kappa' <= {factor} f/(n-f)",
        "appendix B, proof of Lemma 1 (eq:2)",
        "proved",
        check_zero,
        scope="instances",
        terms={"factor": Term("8")},
    ),
    Claim(
        "nnm-order-optimal",
        "if kappa = O(1), NNM makes kappa' = O(f/n), at most {factor} (kappa+1) times the optimum",
        "section 4.2, after Lemma 1",
        "proved",
        check_optimal,
        scope="algebra",
        terms={"factor": Term("8")},
    ),
)
