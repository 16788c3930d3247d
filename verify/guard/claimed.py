"""The number that a claim is at (n, f), exactly; and the claim that goes without saying for rules that we know."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import MOST_BITS, evaluate, satisfies
from kappaguard.rules.base.rationals import simplest_of_float
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.grammar import parse, split_pipeline
from kappaguard.rules.names import is_code
from kappaguard.rules.names import rule as rule_named

ROUNDED = Fraction(1, 2**50)
"""A root is rounded; the claim is taken a little larger than what was computed, so that rounding refutes nothing."""

COUNTERPARTS = {
    "byzfl": {
        "Average": "average",
        "Median": "cwmed",
        "TrMean": "cwtm",
        "GeometricMedian": "gm",
        "Krum": "krum",
        "MultiKrum": "multikrum",
        "CenteredClipping": "centered_clipping",
        "MDA": "mda",
        "MoNNA": "monna",
        "Meamed": "meamed",
        "CAF": "caf",
        "SMEA": "smea",
        "NNM": "nnm",
        "Clipping": "clipping",
        "ARC": "arc",
    },
    "flwr": {
        "aggregate": "average",
        "aggregate_median": "cwmed",
        "aggregate_krum": "krum",
        "aggregate_trimmed_avg": "cwtm",
        "FedAvg": "average",
        "FedMedian": "cwmed",
        "FedTrimmedAvg": "cwtm",
        "Krum": "krum",
        "MultiKrum": "multikrum",
    },
}
"""Which rule of ours a peer's is meant to be."""


@dataclass(frozen=True)
class Claimed:
    """A claim as it was written, and its value at (n, f)."""

    expression: str
    bound: Fraction


def claimed(rule: str | Callable[..., Any], n: int, f: int, claim: str | float | Fraction | None = None) -> Claimed:
    """The claim on kappa* of the rule at (n, f): as given, or the paper's coefficient for rules that we know.

    A float stands for the simplest fraction that rounds to it: 1/3 in floats is a little less than a third, and the
    claim is a third. Texts and fractions are taken exactly.
    """
    if claim is None:
        claim = coefficient(rule, f)
        if claim is None:
            name = rule if isinstance(rule, str) else "this rule"
            raise InputError(f"no coefficient is known for {name}: state the claim, as in --claim '6*(1+f/(n-2*f))'")
    if isinstance(claim, bool) or not isinstance(claim, str | int | float | Fraction):
        raise InputError(f"a claim is an expression in n and f or a number, got {claim!r}")
    if isinstance(claim, float) and not math.isfinite(claim):
        raise InputError(f"a claim must be finite, got {claim}")
    value = evaluate(claim, n, f) if isinstance(claim, str) else _number(claim)
    bound = value if isinstance(value, Fraction) else Fraction(value) * (1 + ROUNDED)
    if bound < 0:
        raise InputError(f"no kappa is negative, and {str(claim)!r} is at n = {n} and f = {f}")
    return Claimed(str(claim), bound)


def require_domain(requires: str | None, n: int, f: int) -> None:
    """InputError where a claim is asked about that is not claimed: its domain is said by comparisons in n and f."""
    if requires is not None and not satisfies(requires, n, f):
        raise InputError(f"the claim is for {requires} only, which n = {n} and f = {f} do not satisfy")


def _number(claim: float | Fraction) -> Fraction:
    value = simplest_of_float(claim) if isinstance(claim, float) else Fraction(claim)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise InputError(f"a claim may have {MOST_BITS} bits")
    return value


def coefficient(rule: str | Callable[..., Any], f: int) -> str | None:
    """The paper's coefficient for a rule of ours, or for a peer's that is meant to be one of ours."""
    if isinstance(rule, str) and is_code(rule):
        known = counterpart(rule)
        return None if known is None else coefficient(known, f)
    built = rule_named(rule, f=f) if isinstance(rule, str) else rule
    return built.claim.expression if isinstance(built, Rule) and built.claim is not None else None


def counterpart(spec: str) -> str | None:
    """The rule of ours that a peer's rule or pipeline is meant to be; options do not matter."""
    stages = [_stage(stage) for stage in split_pipeline(spec)]
    return "+".join(stage for stage in stages if stage) if all(stages) else None


def _stage(text: str) -> str | None:
    if ":" not in text:
        return text.strip()
    seen = parse(text)
    return COUNTERPARTS.get(seen.where.partition(".")[0], {}).get(seen.attribute)
