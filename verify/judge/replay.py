"""The judge of witnesses: a witness re-evaluated from its rationals alone.

What is re-evaluated depends on the rule:

    exact     its output is rational: the rule runs on exact fractions, and the ratio is one fraction.
    enclosed  geometric median, alone or behind rational steps: a ball that contains the output is computed
              rigorously (see ``kappaguard.verify.judge.median``), and with it bounds on the ratio. They hold for the
              rule as defined, and say nothing about the last digits of a float implementation.
    float     a rule of another library, or one of ours without exact arithmetic: it is run in float64 on x
              rounded to floats, and error and spread are computed exactly from these floats and its output. That
              proves what this code returns on this machine.

Error, spread and ratio are computed here, in plain fractions, with nothing from ``kappaguard.rules.ratio``.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.gm import GeometricMedian, is_minimiser
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.pipeline import Chain, Pipeline
from kappaguard.rules.witness import Bound, Witness
from kappaguard.verify.judge.exact_numbers import (
    Matrix,
    Vector,
    inner,
    is_semidefinite,
    mean,
    minus,
    root_above,
    root_below,
    round_down,
)
from kappaguard.verify.judge.median import Ball, geometric_median

Method = Literal["exact", "enclosed", "float"]

NO_VECTOR = "no vector: "
"""How the note of a witness begins for which the rule returned none."""
FLOAT_TOLERANCE = Fraction(1, 10**9)
"""How far, relatively, ratios of float rules and ends of enclosures may differ between machines."""


@dataclass(frozen=True)
class Replay:
    """The bounds on the ratio as re-evaluated (None if the rule failed), how, and whether the record agrees."""

    witness: Witness
    lower: Bound | None
    upper: Bound | None
    method: Method
    reproduces: bool
    seconds: float
    evaluations: int = 1
    fault: str | None = None

    @property
    def verdict(self) -> str:
        """The method if the record is reproduced, else ``differs``."""
        return self.method if self.reproduces else "differs"


def replay(witness: Witness) -> Replay:
    """Evaluate the rule of a witness on its input again and compare the ratio with the recorded one."""
    start = time.perf_counter()
    rule = rule_named(witness.rule, f=witness.f)
    method = method_for(rule)
    try:
        lower, upper = evaluate(rule, witness)
    except RuleFault as fault:
        failed = _says_no_vector(witness)
        if failed:
            _require_running(witness)
        return Replay(witness, None, None, method, failed, time.perf_counter() - start, 1, str(fault))
    agrees = _agrees(witness, lower, upper, method)
    return Replay(witness, lower, upper, method, agrees, time.perf_counter() - start)


def _says_no_vector(witness: Witness) -> bool:
    """Whether the record is that the rule returned no vector, and so satisfies no bound: its ratio is infinite."""
    return witness.lower == math.inf and witness.note.startswith(NO_VECTOR)


def _require_running(witness: Witness) -> None:
    """InputError if the rule refuses plain inputs as well: then it is no rule at (n, f), and its failure no proof."""
    from kappaguard.verify.judge.subject import subject_of

    subject_of(witness.rule, witness.n, witness.f)


def settle(witness: Witness, rule: Rule | None = None) -> Witness:
    """The witness with the bounds on its ratio as judged here, whatever was recorded; by the rule that it names."""
    lower, upper = evaluate(rule_named(witness.rule, f=witness.f) if rule is None else rule, witness)
    return dataclasses.replace(witness, lower=lower, upper=upper)


def method_for(rule: Callable[[Any], Any]) -> Method:
    """How the output of a rule can be known."""
    if not isinstance(rule, Rule):
        return "float"
    if rule.traits.rational:
        return "exact"
    return "enclosed" if is_minimiser(rule.last) and Chain(rule.front).traits.rational else "float"


def evaluate(rule: Callable[[Any], Any], witness: Witness) -> tuple[Bound, Bound]:
    """Bounds on the ratio of x and S."""
    method = method_for(rule)
    if method == "exact":
        output = Ball(tuple(Fraction(value) for value in rule(witness.array())), Fraction(0))
        return bounds(output, witness.x, witness)
    if method == "enclosed":
        return bounds(_median(rule, witness), witness.x, witness)
    rounded = _floats(witness.x)
    returned = np.asarray(rule(rounded), dtype=np.float64)
    if returned.shape != (witness.d,) or not np.all(np.isfinite(returned)):
        raise RuleFault(witness.rule, "infinite", f"returned no finite vector of length {witness.d}")
    output = Ball(tuple(Fraction(value) for value in returned.tolist()), Fraction(0))
    return bounds(output, [[Fraction(value) for value in row] for row in rounded.tolist()], witness)


def bounds(output: Ball, x: Sequence[Vector], witness: Witness) -> tuple[Bound, Bound]:
    """Bounds on ||output - mean_S||^2 / spread of S, for every output in the ball."""
    honest = [x[index] for index in witness.subset]
    offset = minus(output.centre, mean(honest))
    square = inner(offset, offset)
    least = most = square
    if output.radius:
        least = max(Fraction(0), root_below(square) - output.radius) ** 2
        most = (root_above(square) + output.radius) ** 2
    # ARAgg allows c f/n times the square of the diameter
    share = Fraction(witness.f, witness.n) if witness.criterion == "pairwise" else Fraction(1)
    narrow, wide = (share * value for value in SPREADS[witness.criterion](honest))
    lower, upper = _quotient(least, wide), _quotient(most, narrow)
    if lower == upper or isinstance(lower, float):
        return lower, upper
    # an enclosure need not carry hundreds of digits
    lower = round_down(lower, 80) if lower else lower
    return lower, upper if isinstance(upper, float) else round_down(upper, 80) * (1 + Fraction(1, 2**78))


def _quotient(square: Fraction, spread: Fraction) -> Bound:
    if spread:
        return square / spread
    return math.inf if square else Fraction(0)


def _variance(honest: Sequence[Vector]) -> tuple[Fraction, Fraction]:
    centre = mean(honest)
    offsets = [minus(row, centre) for row in honest]
    value = sum((inner(offset, offset) for offset in offsets), Fraction(0)) / len(honest)
    return value, value


def _diameter(honest: Sequence[Vector]) -> tuple[Fraction, Fraction]:
    offsets = [minus(a, b) for place, a in enumerate(honest) for b in honest[:place]]
    value = max((inner(offset, offset) for offset in offsets), default=Fraction(0))
    return value, value


def _spectral(honest: Sequence[Vector]) -> tuple[Fraction, Fraction]:
    """Bounds on the largest eigenvalue of the covariance: below a Rayleigh quotient, above an exact elimination."""
    centre = mean(honest)
    offsets = [minus(row, centre) for row in honest]
    if len(offsets[0]) < len(offsets):
        offsets = [list(column) for column in zip(*offsets, strict=True)]
    matrix: Matrix = [[inner(a, b) / len(honest) for b in offsets] for a in offsets]
    size = max(matrix[place][place] for place in range(len(matrix)))
    if size == 0:
        return Fraction(0), Fraction(0)
    vectors = np.linalg.eigh(np.array([[float(value / size) for value in row] for row in matrix]))[1]
    top = [Fraction(value) for value in vectors[:, -1].tolist()]
    least = inner(top, [inner(row, top) for row in matrix]) / inner(top, top)
    slack = least / 2**44
    while not is_semidefinite(_subtracted(least + slack, matrix)):
        slack *= 16
    return least, least + slack


def _subtracted(level: Fraction, matrix: Matrix) -> Matrix:
    return [
        [(level if row == column else 0) - value for column, value in enumerate(values)]
        for row, values in enumerate(matrix)
    ]


SPREADS: dict[str, Callable[[Sequence[Vector]], tuple[Fraction, Fraction]]] = {
    "trace": _variance,
    "spectral": _spectral,
    "diameter": _diameter,
    "pairwise": _diameter,
}
"""Per criterion, lower and upper bounds on the spread of S (up to the share f/n of ``pairwise``)."""


def _median(rule: Callable[[Any], Any], witness: Witness) -> Ball:
    """The geometric median of the input, as the steps in front of it leave it."""
    points = witness.array()
    if isinstance(rule, Pipeline):
        points = Chain(rule.steps)(points)
    rows = [[Fraction(value) for value in row] for row in points]
    # a guess from floats, which have most digits near zero and for numbers of size one
    offsets = [minus(row, rows[0]) for row in rows]
    size = max((abs(value) for offset in offsets for value in offset), default=Fraction(0)) or Fraction(1)
    guess = GeometricMedian()(np.array([[float(value / size) for value in offset] for offset in offsets]))
    return geometric_median(
        rows, [start + Fraction(v) * size for start, v in zip(rows[0], guess.tolist(), strict=True)]
    )


def _floats(x: Sequence[Vector]) -> NDArray[np.float64]:
    try:
        return np.array([[float(value) for value in row] for row in x], dtype=np.float64)
    except OverflowError:
        raise InputError("an entry of x is too large for a float, and this rule runs on floats only") from None


def _agrees(witness: Witness, lower: Bound, upper: Bound, method: Method) -> bool:
    """Whether the recorded bounds are those of the re-evaluated ratio.

    An exact ratio must lie between them. Enclosures must meet, and the recorded lower bound must be proved again, up to
    the tolerance; float ratios must agree up to it.
    """
    if method == "exact" and lower == upper:
        return witness.lower <= lower <= witness.upper
    if math.inf in (lower, witness.lower):
        return lower == witness.lower
    return witness.lower * (1 - FLOAT_TOLERANCE) <= lower <= witness.upper * (1 + FLOAT_TOLERANCE)
