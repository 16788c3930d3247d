"""Squared distances from inner products, in one place: D_ij = G_ii + G_jj - 2 G_ij, and where that loses digits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, namespace, off_diagonal

CANCELLED = 1e-2
"""A squared distance below this part of the two squared norms lost digits to cancellation: two of sixteen."""


class GramDistances(NamedTuple):
    """Squared distances, zero on the diagonal; the sums of two squared norms that they come from; a mask off it."""

    distances: Array
    norms: Array
    apart: Array

    def lost(self) -> Array:
        """The pairs that lost digits to cancellation, or are not a number."""
        return self.apart & ~(self.distances >= CANCELLED * self.norms)

    def equal(self, part: float) -> Array:
        """The pairs whose distance is at most that part of the norms: vectors that rounding cannot tell apart."""
        return self.apart & (self.distances <= part * self.norms)


def distances_from_gram(gram: Array) -> GramDistances:
    """From the inner products (..., n, n) of vectors about any point."""
    plain = isinstance(gram, np.ndarray) and gram.ndim == 2
    xp = namespace(gram)
    squares = gram.diagonal() if plain else xp.linalg.diagonal(gram)
    norms = squares[..., :, None] + squares[..., None, :]
    apart = _apart(len(gram)) if plain else off_diagonal(gram)
    with np.errstate(over="ignore", invalid="ignore"):
        distances = norms - 2 * gram
    return GramDistances(xp.where(apart, distances, xp.zeros_like(distances)), norms, apart)


@lru_cache(maxsize=64)
def _apart(n: int) -> NDArray[Any]:
    """The mask of pairs of different rows of a NumPy matrix: forming it takes longer than using it."""
    mask = ~np.eye(n, dtype=np.bool_)
    mask.flags.writeable = False
    return mask
