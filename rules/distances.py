"""Squared distances between all pairs of vectors: all that most rules see of their input.

D_ij = ||x_i - x_j||^2 carries the same information as the centred Gram matrix and, unlike it, has no digit to
lose to a common offset. Partial matrices over blocks of coordinates add up. Rules use D only up to a common
positive factor, so D is in units that keep it representable when squares would overflow or vanish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, in_double, is_exact, namespace, off_diagonal
from kappaguard.rules.base.checks import reject_nan
from kappaguard.rules.gram import distances_from_gram

BLOCK_ENTRIES = 1 << 21
"""How many differences are held at once."""
SAFE_LEAST, SAFE_MOST = 1e-200, 1e200
"""A squared distance outside this range is formed again in other units."""

FEW_PAIRS = 4
"""One of so many pairs at most is formed again singly."""
FARTHEST = 1e304
"""In units of the majority's radius, what is farther counts as infinite: sums of thousands still have room."""


class Pairs(NamedTuple):
    """Squared distances D, and, where they are known, the inner products of x_i - y for some y between the rows."""

    distances: Array
    gram: Array | None = None


def squared_distances(x: Array) -> Array:
    """D for x of shape (..., n, d): (..., n, n), in float64, or in integers for fractions; zero on the diagonal.

    A row with an infinite entry is infinitely far from every other row. NaN is refused.
    """
    return pairs_of(x).distances


def pairs_of(x: Array) -> Pairs:
    """D as above, and in the same unit what else became known."""
    if is_exact(x):
        return Pairs(_from_differences(_whole(x)))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        found = Pairs(*native.squared_distances(x)) if native.applies(x) else Pairs(_plain(in_double(x)))
        if x.shape[-2] > 1 and is_safe(found.distances) and not _vanished(x, found.distances):
            return found
        reject_nan(x)
        return Pairs(_in_robust_units(in_double(x)))


def _whole(x: Array) -> Array:
    """Fractions as integers in units of their common denominator, on which Python is ten times as quick."""
    scale = math.lcm(*(entry.denominator for entry in x.flat))
    result = np.empty(x.size, dtype=object)
    result[:] = [entry.numerator * (scale // entry.denominator) for entry in x.flat]
    return result.reshape(x.shape)


def _plain(x: Array) -> Array:
    n = x.shape[-2]
    if n * math.prod(x.shape) <= BLOCK_ENTRIES:
        return _from_differences(x)
    xp = namespace(x)
    centred = x - xp.mean(x, axis=-2, keepdims=True)
    found = distances_from_gram(xp.matmul(centred, xp.matrix_transpose(centred)))
    cancelled = found.lost()
    return _mended(x, found.distances, cancelled) if bool(xp.any(cancelled)) else found.distances


def _mended(x: Array, distances: Array, cancelled: Array) -> Array:
    """D with the pairs whose digits were cancelled, such as equal vectors, from their differences; all if many are."""
    xp = namespace(x)
    *batch, one, two = xp.nonzero(cancelled)
    count = one.shape[0]
    if count * FEW_PAIRS > math.prod(distances.shape):
        return _from_differences(x)
    step = max(1, BLOCK_ENTRIES // x.shape[-1])
    parts = []
    for start in range(0, count, step):
        block = slice(start, start + step)
        place = [index[block] for index in batch]
        difference = x[(*place, one[block])] - x[(*place, two[block])]
        parts.append(xp.sum(difference * difference, axis=-1))
    distances[(*batch, one, two)] = xp.concat(parts)
    return distances


def _from_differences(x: Array, unit: Array | None = None) -> Array:
    xp = namespace(x)
    total = None
    for difference in _differences(x):
        scaled = difference if unit is None else difference / unit[..., None, None, None]
        part = xp.sum(scaled * scaled, axis=-1)
        total = part if total is None else total + part
    return total


def _differences(x: Array) -> Iterator[Array]:
    """x_i - x_j for all pairs, (..., n, n, some coordinates), a bounded number at a time."""
    rows = math.prod(x.shape[:-1])
    step = x.shape[-1] if is_exact(x) else max(1, BLOCK_ENTRIES // max(1, x.shape[-2] * rows))
    for start in range(0, x.shape[-1], step):
        block = x[..., start : start + step]
        yield block[..., :, None, :] - block[..., None, :, :]


def is_safe(distances: Array) -> bool:
    """Whether no squared distance overflowed, vanished or is undefined."""
    xp = namespace(distances)
    inside = (distances == 0) | ((distances > SAFE_LEAST) & (distances < SAFE_MOST))
    return bool(xp.all(inside))


def _vanished(x: Array, distances: Array) -> bool:
    """Whether rows that differ have distance zero, their squares being too small for a float."""
    xp = namespace(distances)
    if x.dtype == xp.float32:
        # the square of the smallest float32 is far from the smallest float64
        return False
    equal = (distances == 0) & off_diagonal(x)
    if not bool(xp.any(equal)):
        return False
    partner = xp.argmax(xp.astype(equal, xp.int8), axis=-1)
    paired = xp.any(equal, axis=-1)
    if x.ndim == 2 and isinstance(x, np.ndarray):
        rows = np.flatnonzero(paired)
        return bool(np.any(x[rows] != x[partner[rows]]))
    twin = xp.take_along_axis(x, xp.broadcast_to(partner[..., None], x.shape), axis=-2)
    return bool(xp.any(paired[..., None] & (twin != x)))


def _in_robust_units(x: Array) -> Array:
    """D in units of the radius of the tightest majority, so that neither far rows nor a tiny spread spoil it."""
    xp = namespace(x)
    finite = xp.all(xp.isfinite(x), axis=-1)
    together = finite[..., :, None] & finite[..., None, :]
    clean = xp.where(finite[..., None], x, xp.zeros_like(x))
    distances = _from_differences(clean, _majority_radius(clean, together))
    keep = (together & (distances < FARTHEST)) | ~off_diagonal(x)
    return xp.where(keep, distances, xp.full_like(distances, float("inf")))


def _majority_radius(x: Array, together: Array) -> Array:
    """min_i median_j max_k |x_ik - x_jk| over the rows that are together: f < n/2 far rows cannot blow it up."""
    xp = namespace(x)
    reach = None
    for difference in _differences(x):
        part = xp.max(xp.abs(difference), axis=-1)
        reach = part if reach is None else xp.maximum(reach, part)
    far = xp.full_like(reach, float("inf"))
    median = xp.sort(xp.where(together, reach, far), axis=-1)[..., x.shape[-2] // 2]
    radius = xp.min(xp.where(median > 0, median, xp.full_like(median, float("inf"))), axis=-1)
    return xp.where(xp.isfinite(radius), radius, xp.ones_like(radius))
