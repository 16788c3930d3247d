"""Weights on order statistics."""

from __future__ import annotations

from fractions import Fraction


def equal(n: int, low: int, high: int) -> tuple[Fraction, ...]:
    """The same weight on the places low .. high - 1 of n sorted values."""
    return tuple(Fraction(int(low <= place < high), high - low) for place in range(n))


def median(n: int) -> tuple[Fraction, ...]:
    """The middle value, or the mean of the two middle ones."""
    return equal(n, (n - 1) // 2, n // 2 + 1)
