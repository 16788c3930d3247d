"""Two aggregation rules, as a library might have them. They know nothing of kappaguard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def trimmed_mean(vectors: Vectors, f: int) -> Vectors:
    """In every coordinate, the mean of what is left without the f smallest and the f largest values."""
    ordered = np.sort(vectors, axis=0)
    return ordered[f : len(vectors) - f].mean(axis=0)


@dataclass(frozen=True)
class Krum:
    """The vector that is nearest to its n - f nearest vectors, itself among them."""

    f: int

    def __call__(self, vectors: Vectors) -> Vectors:
        """One of the vectors."""
        distances = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=-1)
        scores = np.sort(distances, axis=1)[:, : len(vectors) - self.f].sum(axis=1)
        return vectors[np.argmin(scores)]
