"""The direction of largest variance, from distances alone: what caf, dnc and filterl2 share."""

from __future__ import annotations

from kappaguard.rules.base.arrays import Array, bounded, namespace
from kappaguard.rules.cloud import Cloud


def finite_weights(cloud: Cloud) -> tuple[Array, Array]:
    """The distances, 0 instead of infinity, and weight 1 for finite vectors, 0 for those with infinite entries."""
    distances = cloud.distances
    xp = namespace(distances)
    infinite = xp.isinf(distances)
    unseen = xp.sum(xp.astype(infinite, xp.int64), axis=-1)
    clean = xp.where(infinite, xp.zeros_like(distances), distances)
    return clean, xp.astype(unseen == xp.min(unseen, axis=-1, keepdims=True), xp.float64)


def principal(distances: Array, weights: Array) -> tuple[Array, Array, Array]:
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
    value, vector = _first(root[..., :, None] * gram * root[..., None, :])
    spread = bounded(value, 0.0, None)
    raw = xp.matmul(gram, (root * vector)[..., None])[..., 0]
    scale = xp.where(spread > 0, spread, 1.0)[..., None]
    projection = xp.where(counted, raw**2 / scale, 0.0)
    return share, spread * unit, projection


def _first(matrix: Array) -> tuple[Array, Array]:
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
