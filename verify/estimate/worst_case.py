"""What can happen, beside what happens: kappa* of a rule as far as it is known, and the claimed coefficient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate
from kappaguard.rules.base.rule import Rule
from kappaguard.verify.judge.exact import exact


@dataclass(frozen=True)
class WorstCase:
    """kappa* between ``lower`` and ``upper`` (None where nothing is known), and the claimed coefficient."""

    lower: float | None = None
    upper: float | None = None
    coefficient: float | None = None
    expression: str | None = None

    def reach(self, largest: float) -> tuple[float | None, float | None]:
        """The part of kappa* that a ratio reaches: at least, by the upper bound, and at most, by the lower one."""
        return _part(largest, self.upper), _part(largest, self.lower)

    def reach_of_coefficient(self, largest: float) -> float | None:
        """The part of the coefficient that a ratio reaches."""
        return _part(largest, self.coefficient)


def _part(largest: float, whole: float | None) -> float | None:
    if whole is None or whole == 0:
        return None
    if math.isinf(whole):
        return 1.0 if math.isinf(largest) else 0.0
    return largest / whole


def worst_case_of(spec: str | Callable[..., Any], rule: Any, n: int, f: int, *, worst_case: bool = True) -> WorstCase:
    """What is known of a rule at (n, f); without ``worst_case`` only the coefficient."""
    claim = rule.claim if isinstance(rule, Rule) else None
    coefficient = None
    if claim is not None:
        try:
            coefficient = float(evaluate(claim.expression, n, f))
        except InputError:
            claim = None
    lower = upper = None
    if worst_case and isinstance(spec, str):
        try:
            known = exact(spec, n, f, brief=True)
            lower, upper = float(known.lower), None if known.upper is None else float(known.upper)
        except InputError:
            pass
    return WorstCase(lower, upper, coefficient, None if claim is None else claim.expression)
