"""A few smoothed Weiszfeld steps towards the geometric median (Pillutla et al. 2022).

From y = 0, every step takes the mean of the vectors with weights 1/max(||x_j - y||, nu). After the first one y is a
mean with weights w of sum one, and the distances from it follow from those between the vectors, whatever d is:

    ||x_i - y||^2 = sum_j w_j D_ij - 1/2 sum_jk w_j w_k D_jk,    D_ij = ||x_i - x_j||^2.
"""

from __future__ import annotations

from kappaguard.rules.base.arrays import Array, device_of, namespace
from kappaguard.rules.cloud import Cloud


def smoothed_median(cloud: Cloud, steps: int, nu: float) -> Array:
    """Where the steps lead; a vector with infinite entries has no weight, and if all have some, the result is 0."""
    lengths = cloud.lengths
    weights = _weights(lengths, nu)
    if steps > 1:
        xp = namespace(lengths)
        finite = xp.isfinite(lengths)
        together = finite[..., :, None] & finite[..., None, :]
        pairs = xp.where(together, cloud.distances, xp.zeros_like(cloud.distances))
        pairs = pairs * unit_of(cloud, pairs)[..., None, None]
        for _ in range(steps - 1):
            along = xp.matmul(pairs, weights[..., None])[..., 0]
            square = along - xp.sum(weights * along, axis=-1, keepdims=True) / 2
            distances = xp.sqrt(xp.where(square > 0, square, xp.zeros_like(square)))
            weights = _weights(xp.where(finite, distances, xp.full_like(distances, float("inf"))), nu)
    return cloud.combine(weights)


def _weights(distances: Array, nu: float) -> Array:
    """1/max(distance, nu) over their sum; 0 for what is infinitely far."""
    xp = namespace(distances)
    finite = xp.isfinite(distances)
    least = xp.full_like(distances, nu)
    near = xp.where(finite & (distances > nu), distances, least)
    inverse = xp.where(finite, 1 / near, xp.zeros_like(near))
    total = xp.sum(inverse, axis=-1, keepdims=True)
    return inverse / xp.where(total > 0, total, xp.ones_like(total))


def unit_of(cloud: Cloud, pairs: Array) -> Array:
    """What a cloud's squared distances, which may be in any unit, have to be multiplied with.

    One pair tells: the two vectors that are farthest apart, whose difference is formed.
    """
    xp = namespace(pairs)
    n = pairs.shape[-1]
    flat = xp.reshape(pairs, (*pairs.shape[:-2], n * n))
    place = xp.argmax(flat, axis=-1)
    index = xp.arange(n, device=device_of(pairs))
    one, two = (xp.astype(index == each[..., None], pairs.dtype) for each in (place // n, place % n))
    apart = cloud.replaced(cloud.combine(one - two)[..., None, :]).lengths[..., 0]
    stated = xp.max(flat, axis=-1)
    counted = stated > 0
    return xp.where(counted, apart * apart / xp.where(counted, stated, xp.ones_like(stated)), xp.ones_like(stated))
