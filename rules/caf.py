"""CAF: the covariance-bound agnostic filter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, bounded, namespace
from kappaguard.rules.base.checks import require_count, require_inexact, require_minority
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.spectral import finite_weights, principal


@dataclass(frozen=True)
class CovarianceFilter(Rule):
    """The flattest of the weighted means that come up while the direction of largest variance is filtered.

    Definition (Allouah, Guerraoui and Stephan 2025): weights start at 1; while they sum to more than n - 2f, take
    the weighted mean and covariance, project the vectors on the covariance's first eigenvector, and multiply each
    weight by 1 - tau_i/max tau, tau_i being the squared projection of x_i - mean. The output is the weighted mean
    with the smallest largest eigenvalue. Without variance, or with f = 0, it is the mean. Vectors with infinite
    entries start with weight 0. Needs f < n/2.
    Where the largest eigenvalue is not simple, the direction is the eigenvalue solver's choice.
    """

    f: int
    name: ClassVar[str] = "caf"
    _traits: ClassVar[Traits] = Traits(rational=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "caf: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The weighted mean with the smallest largest eigenvalue."""
        require_inexact(self.name, cloud.base)
        n = cloud.n
        require_minority(self.name, n, self.f)
        distances = cloud.distances
        xp = namespace(distances)
        if isinstance(distances, np.ndarray) and distances.ndim == 2 and np.isfinite(distances.sum()):
            return cloud.combine(_filtered(distances, n - 2 * self.f))
        distances, weights = finite_weights(cloud)
        best = weights / xp.sum(weights, axis=-1, keepdims=True)
        least = xp.full_like(best[..., 0], float("inf"))
        going = xp.sum(weights, axis=-1) > n - 2 * self.f
        for _ in range(n):
            if not bool(xp.any(going)):
                break
            share, spread, projection = principal(distances, weights)
            better = going & (spread < least)
            best = xp.where(better[..., None], share, best)
            least = xp.where(better, spread, least)
            most = xp.max(projection, axis=-1, keepdims=True)
            kept = bounded(1 - projection / xp.where(most > 0, most, 1.0), 0.0, None)
            weights = xp.where(going[..., None], weights * kept, weights)
            going = going & (most[..., 0] > 0) & (xp.sum(weights, axis=-1) > n - 2 * self.f)
        return cloud.combine(best)


def _filtered(distances: NDArray[np.float64], enough: int) -> NDArray[np.float64]:
    """The weights of the flattest mean for one matrix of finite distances: the steps of ``aggregate`` on the vectors
    that still have weight, in a third of the time that masks take where matrices are small."""
    left, weights, seen = np.arange(len(distances)), np.ones(len(distances)), distances
    best, least = weights / len(weights), math.inf
    while (total := weights.sum()) > enough:
        unit = seen.max() or 1.0
        share = weights / total
        half = seen / (2 * unit)
        to_mean = half @ share
        gram = to_mean[:, None] + (to_mean - to_mean @ share) - half
        root = np.sqrt(share)
        value, vector = _top_alone(root[:, None] * gram * root)
        spread = max(value, 0.0) * unit
        if spread < least:
            least, best = spread, np.zeros_like(best)
            best[left] = share
        projection = (gram @ (root * vector)) ** 2
        most = projection.max()
        if not most > 0:
            break
        weights = weights * (1 - projection / most)
        stays = weights > 0
        left, weights, seen = left[stays], weights[stays], seen[stays][:, stays]
    return best


def _top_alone(matrix: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The largest eigenvalue and its vector, without the others: in half the time."""
    from scipy.linalg.lapack import dsyevr

    size = len(matrix)
    values, vectors, _, _, failed = dsyevr(matrix, range="I", il=size, iu=size)
    if failed:
        values, vectors = np.linalg.eigh(matrix)
        return float(values[-1]), vectors[:, -1]
    return float(values[0]), vectors[:, 0]
