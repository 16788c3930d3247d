"""The empirical kappa of the paper's figures is a square root.

Problem: eq:empirical-kappa defines kappa-hat_t^2 as error^2 / variance at step t, and the text calls kappa-hat_t "an
    empirical estimation of kappa".
Statements: (1) kappa-hat_t is at most kappa for an (f, kappa)-robust rule, as an estimate of kappa from below would
    be; (2) ours: kappa-hat_t^2 is. (3) The figure's curves with NNM are consistently below those with Bucketing; read
    as a statement about every input, it fails.
Computed: CWTM at n = 17, f = 4 on the input of the universal lower bound: the ratio is kappa* = 4/9, so kappa-hat is
    2/3. The quantity in the figures is the square root of a lower bound on kappa. (3) With CWTM at n = 17, f = 4, nine
    honest vectors at 0, four at 1, the Byzantine ones just short of -1: NNM makes all zeros take the Byzantine ones in,
    buckets of two, in this order, mix 0 with 0. In experiments NNM's curves are below in most steps
    (docs/experiments.md).
Reference: appendix C (eq:empirical-kappa, and the figure below it).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from kappaguard.verify.theory.algebra import demand
from kappaguard.verify.theory.claim import Claim, Effort, Finding, Report, Sides
from kappaguard.verify.theory.instance import Record, integer, numbers, record, refuted
from kappaguard.verify.theory.packs.fixing_by_mixing.bucketing_variance import buckets, variance
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


def curves(data: Record) -> Sides:
    """The squares of kappa-hat with NNM and with buckets in the given order, in front of CWTM."""
    from kappaguard.rules.names import rule

    values = numbers(data, "x")
    f, s = integer(data, "f", 1, (len(values) - 1) // 2), integer(data, "s", 1, len(values))
    honest = values[: len(values) - f]
    mean = sum(honest, Fraction(0)) / len(honest)

    def square(name: str, numbers_in: list[Fraction]) -> Fraction:
        output = Fraction(rule(name, f=f)(_column(numbers_in))[0])
        return (output - mean) ** 2 / variance(honest)

    return Sides(square("nnm+cwtm", values), "<=", square("cwtm", buckets(values, s)))


def _column(values: list[Fraction]) -> Any:
    import numpy as np

    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def check_curves(_effort: Effort, _report: Report) -> Finding:
    """An input on which NNM is above."""
    shown = record("kappa-hat-curves", f=4, s=2, x=["0"] * 9 + ["1"] * 4 + ["-99/100"] * 4)
    return refuted(
        ("exact",),
        curves(shown),
        "CWTM at n = 17, f = 4, nine honest vectors at 0, four at 1 and the Byzantine ones at -99/100: the square is "
        "1.76 with NNM and 4/9 with buckets of two in this order.",
        shown,
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
    Claim(
        "kappa-hat-curves",
        "kappa-hat_t with NNM is below kappa-hat_t with Bucketing, on every input",
        "appendix C, below the figure of kappa-hat: its curves are consistently below Bucketing's",
        "refuted",
        check_curves,
        sides=curves,
        kind="reading",
    ),
)
