"""Equal weights on a chosen subset."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kappaguard.rules.base.arrays import Array, is_exact, namespace


def uniform(chosen: Array, count: int, like: Array) -> Array:
    """1/count where chosen and 0 elsewhere, as float64 or as fractions, as ``like`` is."""
    if is_exact(like):
        return np.array([Fraction(0), Fraction(1, count)])[chosen.astype(np.intp)]
    xp = namespace(chosen)
    return xp.astype(chosen, xp.float64) / count
