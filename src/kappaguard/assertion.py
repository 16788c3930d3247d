"""``kg.assert_robust``: the guard as an assertion, for any test."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from kappaguard.reports.guard.explanation import explain
from kappaguard.verify.guard.check import check


def assert_robust(
    rule: str | Callable[..., Any], n: int, f: int, kappa: str | float | Fraction | None = None, **options: Any
) -> None:
    """Raise AssertionError with the witness if the claim kappa*(rule, n, f) <= kappa is refuted, or was not finished.

    Options are those of ``check``.
    """
    __tracebackhide__ = True
    verdict = check(rule, n, f, kappa, **options)
    if not verdict.holds:
        raise AssertionError(explain(verdict))
