"""The empirical kappa of the paper's figures is a square root.

Problem: eq:empirical-kappa defines kappa-hat_t^2 as error^2 / variance at step t, and the text calls kappa-hat_t "an
    empirical estimation of kappa".
Statements: (1) kappa-hat_t is at most kappa for an (f, kappa)-robust rule, as an estimate of kappa from below would
    be; (2) ours: kappa-hat_t^2 is.
Computed: CWTM at n = 17, f = 4 on the input of the universal lower bound: the ratio is kappa* = 4/9, so kappa-hat is
    2/3. The quantity in the figures is the square root of a lower bound on kappa.
Reference: appendix C (eq:empirical-kappa).
"""

from __future__ import annotations

import math

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report
from kappaguard.verify.theory.worst import kappa_star


def check_plain(_effort: Effort, _report: Report) -> Finding:
    """The root of the ratio against kappa*."""
    result = kappa_star("cwtm", 17, 4)
    demand(result.lower == result.upper, "the input is a worst one")
    return Finding(
        "refuted",
        ("exact",),
        math.sqrt(result.lower),
        float(result.lower),
        "CWTM at n = 17, f = 4: kappa* = 4/9 but kappa-hat = 2/3 on a worst input. The definition has a square "
        "that the text does not.",
        witness=result.witness,
    )


def check_square(_effort: Effort, _report: Report) -> Finding:
    """The ratio against kappa*."""
    result = kappa_star("cwtm", 17, 4)
    assert result.upper is not None
    return Finding(
        "proved",
        ("symbolic", "exact"),
        float(result.lower),
        float(result.upper),
        "kappa-hat_t^2 is the ratio of the honest momentums, so at most kappa by definition, with equality on a "
        "worst input.",
        witness=result.witness,
    )


CLAIMS = (
    Claim(
        "empirical-kappa",
        "kappa-hat_t, whose square is error^2 / variance, is at most kappa",
        "appendix C (eq:empirical-kappa)",
        "refuted",
        check_plain,
        kind="reading",
    ),
    Claim(
        "empirical-kappa-square",
        "kappa-hat_t^2 is at most kappa",
        "kappaguard",
        "proved",
        check_square,
        corrects="empirical-kappa",
        scope="algebra",
    ),
)
