"""kappa* of a rule at (n, f): what the finder found, as far as the judges accept it."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction
from typing import Any

from kappaguard.rules.checks import require_count
from kappaguard.rules.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.rules.pipeline import Pipeline
from kappaguard.rules.witness import Witness
from kappaguard.search.exact import gm, mda, multikrum, ordered
from kappaguard.search.exact.programs import RULES, Found, Report, find
from kappaguard.search.portfolio import ADVERSARIES
from kappaguard.search.result import RELATIVE_GAP, KappaResult, Stats
from kappaguard.verify.checker import SCHEMA, check
from kappaguard.verify.lower import search
from kappaguard.verify.replay import settle

EVALUATIONS = 24_000
"""Times vectors, of the search for a lower bound where no program attains the upper one."""
MOST_VECTORS = 32
QUICK = tuple(
    (adversary, weight)
    for adversary, weight in ADVERSARIES
    if adversary.name in ("chains", "levels", "cma-es", "local")
)

LEMMA = "kappa' <= 4f/(n-f) (kappa + 1), the claim lemma-1-nnm-sharp, with the certified kappa of {rule}"

THREE = (
    "three vectors, honest a and b at distance D (variance D^2/4, mean c), Byzantine z: if z is farther than D from "
    "both, a and b mix to c, their scores are 0 and Krum selects c; else say |z - a| <= D, and whatever is mixed is c, "
    "(a + z)/2 = c + (z - b)/2 or (b + z)/2 = c + (z - a)/2, within D of c: error^2 <= D^2 = 4 variance"
)


def exact(rule: str, n: int, f: int, report: Report | None = None) -> KappaResult:
    """Bounds on kappa* of a built-in rule or of nnm in front of it, each as good as its proof.

    ``lower`` is the exactly re-evaluated ratio of the witness. ``upper`` is what the checker accepted; for a
    pipeline with nnm (but nnm+mda, which has a certificate of its own) it follows from the sharp form of Lemma 1
    (proved in ``verify/claims/nnm_sharp.py``) and the certificate of the rule behind it; where there is neither, it is
    None.
    """
    start = time.perf_counter()
    if not isinstance(rule, str) or ":" in rule:
        raise InputError(f"exact knows built-in rules by name, such as krum or nnm+cwtm, and not {str(rule)[:80]!r}")
    require_count(n, 2, "exact: n")
    require_count(f, 0, "exact: f")
    if 2 * f >= n:
        raise InputError(f"exact needs f < n/2, got n = {n} and f = {f}")
    built = parse(rule, f=f)
    parts = [*built.steps, built.rule] if isinstance(built, Pipeline) else [built]
    if any(getattr(part, "f", f) != f for part in parts):
        raise InputError(f"exact has one f for rule and adversary: {rule} sets another than f = {f}")
    label = built.label
    mixed = isinstance(built, Pipeline)
    if label in RULES and (f or not mixed):
        found = find(label, n, f, report or (lambda done, total: None))
        text = certificate(label, n, f, found)
        upper: Fraction | None = check(text).upper
        inputs = [(found.x, found.honest, "exact program"), *(known_inputs(n, f) if mixed else [])]
        witness, evaluations = _best(label, n, f, inputs)
        witness, evaluations = _searched(witness, evaluations, upper)
        return _result(label, n, f, witness, upper, text, None, start, evaluations, found.programs)
    witness, evaluations = _best(label, n, f, known_inputs(n, f))
    if isinstance(built, Pipeline) and [step.label for step in built.steps] == ["nnm"] and built.rule.label in RULES:
        behind = exact(built.rule.label, n, f, report)
        assert behind.upper is not None
        upper = Fraction(4 * f, n - f) * (Fraction(behind.upper) + 1)
        proof, behind_it = LEMMA.format(rule=behind.rule), behind.certificate
        if (label, n, f) == ("nnm+krum", 3, 1):
            upper, proof, behind_it = Fraction(4), THREE, None
        witness, evaluations = _searched(witness, evaluations, upper)
        return _result(label, n, f, witness, upper, behind_it, proof, start, evaluations, behind.stats.programs)
    if f == 0 and label == "average":
        return _result(label, n, f, witness, Fraction(0), None, "the output is the mean", start, evaluations, 0)
    witness, evaluations = _searched(witness, evaluations, None)
    return _result(label, n, f, witness, None, None, None, start, evaluations, 0)


def certificate(rule: str, n: int, f: int, found: Found) -> str:
    """The certificate as text, in the form that the checker reads."""
    data: dict[str, Any] = {"schema": SCHEMA, "rule": rule, "n": n, "f": f, "criterion": "trace"}
    data |= {"upper": str(found.upper), "cells": found.cells}
    return json.dumps(data, indent=1)


def known_inputs(n: int, f: int) -> list[tuple[list[list[Fraction]], list[int], str]]:
    """Inputs that are bad for many rules: the paper's lower bound, and the extremal inputs of other rules."""
    zeros, ones = [[Fraction(0)]] * (n - f), [[Fraction(1)]] * f
    first = list(range(n - f))
    inputs = [(zeros + ones, list(range(f, n)), "universal lower bound"), (zeros + ones, first, "no spread")]
    if f:
        inputs += [(ordered.worst_input(rule, n, f), first, f"extremal for {rule}") for rule in ("cwmed", "meamed")]
        inputs += [(gm.worst_input(n, f), first, "extremal for gm"), (mda.worst_input(n, f), first, "extremal for mda")]
        inputs.append((multikrum.worst_input(n, f), first, "extremal for multikrum"))
        near = [[Fraction(0)]] * (n - 2 * f) + [[Fraction(1)]] * f + [[Fraction(-1) + mda.TRIFLE]] * f
        inputs.append((near, first, "extremal for nnm"))
    return inputs


def _best(rule: str, n: int, f: int, inputs: list[tuple[list[list[Fraction]], list[int], str]]) -> tuple[Witness, int]:
    """The input with the largest ratio, judged in exact arithmetic."""
    judged = [
        settle(Witness(rule, n, f, "trace", tuple(honest), tuple(map(tuple, x)), Fraction(0), Fraction(0), found_by))
        for x, honest, found_by in inputs
    ]
    return max(judged, key=lambda witness: witness.lower), len(judged)


def _searched(known: Witness, evaluations: int, upper: Fraction | None) -> tuple[Witness, int]:
    """The better of a witness and what a short search finds, if there is a gap to close.

    Always the same one: the budget of the search is in evaluations.
    """
    closed = known.lower == math.inf or (upper is not None and known.lower >= upper * (1 - Fraction(RELATIVE_GAP)))
    if closed or not known.f or known.n > MOST_VECTORS:
        return known, evaluations
    found = search(known.rule, known.n, known.f, evaluations=EVALUATIONS // known.n, adversaries=QUICK)
    better = found.witness is not None and found.witness.lower > known.lower
    return (found.witness if better and found.witness is not None else known), evaluations + found.stats.evaluations


def _result(
    rule: str,
    n: int,
    f: int,
    witness: Witness,
    upper: Fraction | None,
    text: str | None,
    proof: str | None,
    start: float,
    evaluations: int,
    programs: int,
) -> KappaResult:
    stats = Stats(time.perf_counter() - start, evaluations, programs)
    if upper is not None and witness.lower > upper:
        raise AssertionError(f"{rule} at n = {n}, f = {f}: a witness above the certificate, {witness.lower} > {upper}")
    top = math.inf if witness.lower == math.inf else upper
    return KappaResult(rule, n, f, witness.lower, top, witness, text, proof, stats)
