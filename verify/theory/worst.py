"""Inputs and exact values that many claims look at."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kappaguard.rules.witness import Witness, fractions
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.theory.claim import Effort, Report

Number = int | Fraction
Grid = list[tuple[int, int]]


def grid(effort: Effort, quick: int = 7, default: int = 11, full: int = 17) -> Grid:
    """All (n, f) with 1 <= f < n/2 up to a size, and two of the paper's settings."""
    most: int = effort.choose(quick, default, full)
    small = [(n, f) for n in range(3, most + 1) for f in range(1, (n - 1) // 2 + 1)]
    return small + [pair for pair in ((17, 4), (17, 8)) if pair not in small]


@lru_cache(maxsize=512)
def kappa_star(rule: str, n: int, f: int) -> KappaResult:
    """kappa* with witness and certificate, both accepted by the judges."""
    from kappaguard.verify.judge.exact import exact

    return exact(rule, n, f, brief=True)


def on_grid(rule: str, pairs: Grid, report: Report) -> dict[tuple[int, int], KappaResult]:
    """kappa* at every (n, f)."""
    found = {}
    for done, (n, f) in enumerate(pairs):
        found[n, f] = kappa_star(rule, n, f)
        report(done + 1, len(pairs))
    return found


def settled(
    rule: str,
    f: int,
    x: Sequence[Sequence[Number]] | Any,
    honest: Sequence[int] | None = None,
    criterion: str = "trace",
    found_by: str = "construction",
) -> Witness:
    """A witness with its ratio evaluated exactly; the honest vectors are the first n - f unless given."""
    from kappaguard.verify.judge.replay import settle

    n = len(x)
    subset = tuple(range(n - f)) if honest is None else tuple(honest)
    return settle(Witness(rule, n, f, criterion, subset, fractions(x), Fraction(0), Fraction(0), found_by))


def simplex(n: int, f: int) -> list[list[int]]:
    """The honest vectors are the unit vectors of R^(n-f), the Byzantine ones far out along the diagonal."""
    m = n - f
    return [[int(row == column) for column in range(m)] for row in range(m)] + [[2] * m] * f


def text(value: Fraction | float) -> str:
    """A number as a reader likes it."""
    return f"{float(value):.4g}"
