"""ARC in front of the trimmed mean: an input as bad as any, in the limit far from the origin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

FAR = 2**24
"""How many times the spread of the worst input it is away from the origin."""


def clipped(n: int, f: int) -> int:
    """How many vectors ARC scales down."""
    return 2 * f * (n - f) // n


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """An input with ratio f/(n-2f) + k/(m-k), k = ``clipped(n, f)``, or just short of it, the m honest vectors first.

    In R^m every honest vector has f of its entries at -(m-f) and the others at f; k of them have m (m-f)/(m-k) less
    everywhere; all are far from the origin, in the direction of the diagonal. The proof is in the claim
    closed-form-arc-cwtm.
    """
    m, k = n - f, clipped(n, f)
    away = FAR * (m - k) * m
    entries = [
        [(m - k) * (f - m * ((c - i) % m < f)) - away - m * (m - f) * (i < k) for c in range(m)] for i in range(m)
    ]
    return [[Fraction(value) for value in row] for row in [*entries, *[[(m - k) * f - away] * m] * f]]


def lifted(x: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """An input taken far away in a direction of its own: all lengths are nearly alike, so that ARC changes little."""
    size = max((abs(value) for row in x for value in row), default=Fraction(0)) or Fraction(1)
    return [[*row, FAR * size] for row in x]
