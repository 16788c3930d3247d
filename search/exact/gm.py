"""GM in closed form: kappa* = floor(n/2) / (ceil(n/2) - f); the proof is in ``verify/judge/gm.py``."""

from __future__ import annotations

from fractions import Fraction

BEND = Fraction(1, 10**4)
"""How far, relative to the distance, the outer vectors are taken off the line for even n."""


def kappa(n: int, f: int) -> Fraction:
    """kappa*; for even n it is approached and not attained."""
    return Fraction(n // 2, (n + 1) // 2 - f)


def worst_input(n: int, f: int) -> list[list[Fraction]]:
    """An input with ratio kappa*, or just short of it, the honest vectors first.

    p = floor(n/2) honest vectors at -(m - p), the other m - p and all Byzantine ones at p. For even n both groups
    pull with n/2; a slight bend of the outer group weakens its pull.
    """
    m, p = n - f, n // 2
    inner = [[Fraction(p), Fraction(0)]] * (m - p + f)
    height = BEND * m if n % 2 == 0 else Fraction(0)
    heights = [height, -height] * (p // 2) + [Fraction(0)] * (p % 2)
    outer = [[Fraction(p - m), each] for each in heights]
    rows = inner[: m - p] + outer + inner[m - p :]
    return rows if n % 2 == 0 else [row[:1] for row in rows]
