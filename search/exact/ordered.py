"""Coordinate-wise rules in closed form: multipliers and extremal inputs of cwtm, cwmed and meamed.

With m = n - f honest values, the worst inputs have few levels:

- cwtm: n - 2f honest values at f and f at -(n - 2f), the Byzantine ones with the former: kappa* = f/(n - 2f), the
  universal lower bound.
- cwmed: k honest values at m - k and the rest at -k: kappa* = (m - k)/k, where k = floor(n/2) + 1 - f is the least
  number of honest values that decide the median.
- meamed: k honest values at 1/k, f at -1/f, the rest at 0; the Byzantine ones as far above the median as the f
  lowest honest ones are below it, minus a trifle that decides the tie: kappa* = 4 f (f + k) / (k m).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

TRIFLE = Fraction(1, 10**8)
"""How far, relative to the largest distance, a worst input stays off its tie."""


def deciding(n: int, f: int) -> int:
    """k: the least number of honest values without which the Byzantine ones do not decide the median."""
    return n // 2 + 1 - f


def kappa(rule: str, n: int, f: int) -> Fraction:
    """kappa*."""
    m, k = n - f, deciding(n, f)
    if rule == "cwtm":
        return Fraction(f, n - 2 * f)
    if rule == "cwmed":
        return Fraction(m - k, k)
    return Fraction(4 * f * (f + k), k * m)


def certificate(rule: str, n: int, f: int) -> list[dict[str, Any]]:
    """The cells with the runs of p: the projection of the rule's weights on non-increasing sequences."""
    m, k = n - f, deciding(n, f)
    if rule == "cwtm":
        return [_cell([], [(n - 2 * f, Fraction(f, n - 2 * f)), (f, Fraction(-1))])]
    if rule == "cwmed":
        return [_cell([], [(k, Fraction(m, k) - 1), (m - k, Fraction(-1))])]
    return [_cell([q], [(k, Fraction(2 * q, k)), (m - k - q, Fraction(0)), (q, Fraction(-2))]) for q in range(f + 1)]


def _cell(key: list[int], runs: list[tuple[int, Fraction]]) -> dict[str, Any]:
    return {"cell": key, "runs": [[count, str(value)] for count, value in runs if count > 0]}


def worst_input(rule: str, n: int, f: int) -> list[list[Fraction]]:
    """An input with ratio kappa* (meamed: short of it by a trifle), the honest vectors first."""
    m, k = n - f, deciding(n, f)
    if rule == "cwtm":
        honest = [Fraction(f)] * (n - 2 * f) + [Fraction(2 * f - n)] * f
        return [[value] for value in honest + [Fraction(f)] * f]
    if rule == "cwmed":
        honest = [Fraction(m - k)] * k + [Fraction(-k)] * (m - k)
        return [[value] for value in honest + [Fraction(m - k)] * f]
    top, low = Fraction(1, k), Fraction(-1, f)
    honest = [top] * k + [Fraction(0)] * (m - k - f) + [low] * f
    byzantine = top + (top - low) * (1 - TRIFLE)
    return [[value] for value in honest + [byzantine] * f]
