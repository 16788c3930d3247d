"""CAF: the covariance-bound agnostic filter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.arrays import Array, bounded, namespace
from kappaguard.rules.base import Rule, Traits
from kappaguard.rules.checks import require_count, require_inexact, require_minority
from kappaguard.rules.cloud import Cloud


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
        infinite = xp.isinf(distances)
        unseen = xp.sum(xp.astype(infinite, xp.int64), axis=-1)
        clean = xp.where(infinite, xp.zeros_like(distances), distances)
        weights = xp.astype(unseen == xp.min(unseen, axis=-1, keepdims=True), xp.float64)
        best = weights / xp.sum(weights, axis=-1, keepdims=True)
        least = xp.full_like(best[..., 0], float("inf"))
        going = xp.sum(weights, axis=-1) > n - 2 * self.f
        for _ in range(n):
            if not bool(xp.any(going)):
                break
            share, spread, projection = _principal(clean, weights)
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


def _principal(distances: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Normalised weights, the largest eigenvalue of the weighted covariance, and squared projections on its vector.

    Distances are taken in units of the largest one that has weight: vectors that are out no longer matter.
    """
    xp = namespace(distances)
    counted = weights > 0
    seen = xp.where(counted[..., :, None] & counted[..., None, :], distances, 0.0)
    largest = xp.max(seen, axis=(-2, -1))
    unit = xp.where(largest > 0, largest, 1.0)
    seen = seen / unit[..., None, None]
    total = xp.sum(weights, axis=-1, keepdims=True)
    # none is left where the rest of a batch still goes on
    share = weights / xp.where(total > 0, total, 1.0)
    to_mean = xp.matmul(seen, share[..., None])[..., 0]
    constant = xp.sum(to_mean * share, axis=-1)[..., None, None]
    gram = (to_mean[..., :, None] + to_mean[..., None, :] - seen - constant) / 2
    root = xp.where(counted, xp.sqrt(xp.where(counted, share, 1.0)), 0.0)
    value, vector = _top(root[..., :, None] * gram * root[..., None, :])
    spread = bounded(value, 0.0, None)
    raw = xp.matmul(gram, (root * vector)[..., None])[..., 0]
    scale = xp.where(spread > 0, spread, 1.0)[..., None]
    projection = xp.where(counted, raw**2 / scale, 0.0)
    return share, spread * unit, projection


def _top(matrix: Array) -> tuple[Array, Array]:
    """The largest eigenvalue and its vector.

    torch differentiates the pair through its first-order expansion, v + (lambda - A)^+ A v, because its own
    derivative of all eigenvectors divides by the differences of equal eigenvalues that do not matter here.
    """
    xp = namespace(matrix)
    if not getattr(matrix, "requires_grad", False):
        values, vectors = xp.linalg.eigh(matrix)
        return values[..., -1], vectors[..., :, -1]
    values, vectors = xp.linalg.eigh(matrix.detach())
    top = vectors[..., :, -1]
    gaps = values[..., -1:] - values
    inverse = xp.where(gaps > 1e-12, 1 / xp.where(gaps > 1e-12, gaps, 1.0), 0.0)
    image = xp.matmul(matrix, top[..., None])
    inner = xp.matmul(xp.matrix_transpose(vectors), image)
    change = xp.matmul(vectors, inverse[..., None] * inner)[..., 0]
    return xp.sum(top * image[..., 0], axis=-1), top + change - change.detach()
