"""The mean of the n - f vectors with the least spread: an input as bad as any."""

from __future__ import annotations

from fractions import Fraction

TRIFLE = Fraction(1, 2**24)


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """n - 2f honest vectors at 0, f at -1, the Byzantine ones just short of 1, so that they are preferred."""
    return [[Fraction(0)]] * (n - 2 * f) + [[Fraction(-1)]] * f + [[1 - TRIFLE]] * f
