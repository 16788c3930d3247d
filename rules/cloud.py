"""n vectors, seen lazily: as points, or through their pairwise distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, is_exact, namespace, off_diagonal
from kappaguard.rules.base.checks import reject_nan, require_shape
from kappaguard.rules.base.lazy import lazy
from kappaguard.rules.clip import lengths
from kappaguard.rules.distances import (
    Pairs,
    is_safe,
    pairs_of,
    squared_distances,
)

SMALL = 32
"""Up to this many vectors, distances of mixtures are formed from differences of weights throughout."""
CANCELLED = 1e-4
"""A squared distance of mixtures below this part of the terms that it is a sum of is formed anew: it lost four digits
of sixteen, and ``ordering.MARGIN`` needs eleven."""
LEAST_WEIGHT = 1e-30
"""What is smaller loses digits in float32, whose smallest normal number is 1.2e-38."""
MOST_DIFFERENCES = 1 << 21
"""Beyond, only those that lost digits to cancellation are, as long as so many differences of weights suffice."""


class Step(NamedTuple):
    """The last mixing, and the distances between the vectors that it mixed."""

    mixing: Array
    distances: Array


class Cloud:
    """The vectors ``mixing @ base`` (or ``base`` itself), of shape (..., n, d).

    A pre-aggregation that sees only distances adds a mixing matrix instead of forming new points; distances of
    mixed points follow from those of the base in n x n arithmetic.
    """

    def __init__(
        self,
        base: Array,
        mixing: Array | None = None,
        step: Step | None = None,
    ) -> None:
        require_shape(base)
        self.base = base
        self.mixing = mixing
        self.step = step

    @classmethod
    def known(cls, points: Array, distances: Array, gram: Array | None = None) -> Cloud:
        """Vectors whose squared distances are known, and perhaps their inner products about a point between them."""
        cloud = cls(points)
        cloud.__dict__ |= {"_pairs": Pairs(distances, gram), "distances": distances}
        return cloud

    @property
    def n(self) -> int:
        """How many vectors there are."""
        return int((self.base if self.mixing is None else self.mixing).shape[-2])

    @lazy
    def points(self) -> Array:
        """The vectors themselves, formed when they are first asked for."""
        return self.base if self.mixing is None else _mix(self.mixing, self.base)

    @lazy
    def distances(self) -> Array:
        """Squared distances between the vectors, in some unit; infinite where a vector is."""
        if self.mixing is None:
            return self._pairs.distances
        if is_exact(self.base):
            return squared_distances(self.points)
        step = self.step
        if step is None and self.base.shape[-2] <= SMALL:
            step = Step(self.mixing, self._pairs.distances)
        found = None if step is None else mixed_distances(*step)
        return squared_distances(self.points) if found is None else found

    @lazy
    def _pairs(self) -> Pairs:
        """Of the base, not of what is mixed from it."""
        return pairs_of(self.base)

    @property
    def gram(self) -> Array | None:
        """The inner products of all vectors less one of them, or less a point between them, where they are known."""
        known: Pairs | None = self.__dict__.get("_pairs")
        return None if known is None or self.mixing is not None else known.gram

    @lazy
    def lengths(self) -> Array:
        """The norms of the vectors, in float64."""
        return lengths(self.points)

    def replaced(self, points: Array) -> Cloud:
        """Other vectors, seen in the same way."""
        return Cloud(points)

    def distances_from(self, index: int) -> Array:
        """Squared distances from one vector to all, in some unit."""
        if "distances" not in self.__dict__ and self.mixing is None and native.applies(self.base):
            row = native.distances_from(self.base, index)
            if is_safe(row):
                return row
        return self.distances[..., index, :]

    def detached(self) -> Cloud:
        """The same cloud of torch tensors, out of reach of automatic differentiation."""
        mixing = None if self.mixing is None else self.mixing.detach()
        step = None if self.step is None else Step(*(each.detach() for each in self.step))
        return Cloud(self.base.detach(), mixing, step)

    def mixed(self, mixing: Array) -> Cloud:
        """The cloud of ``mixing @ points``; the rows of the mixing matrix sum to one."""
        total = mixing if self.mixing is None else namespace(mixing).matmul(mixing, self.mixing)
        known = self.__dict__.get("distances")
        return Cloud(self.base, total, None if known is None else Step(mixing, known))

    def combine(self, weights: Array) -> Array:
        """``weights @ points`` for weights of shape (..., n)."""
        if self.mixing is not None:
            weights = namespace(weights).matmul(weights[..., None, :], self.mixing)[..., 0, :]
        base = self.base
        weights, beyond = _representable(weights, base)
        result, finite = None, False
        if weights.ndim == 1 and native.applies(base):
            result, finite = native.combine(weights, base)
        if not finite:
            result = _mix(weights[..., None, :], base)[..., 0, :]
        return result if beyond is None else result + beyond

    def select(self, index: Array) -> Array:
        """The vectors of the given index, of shape (...): exactly, not as a product with weights."""
        xp = namespace(self.base)
        if self.mixing is not None:
            every = xp.broadcast_to(self.mixing, (*index.shape, *self.mixing.shape[-2:]))
            row = xp.take_along_axis(every, index[..., None, None], axis=-2)
            return _mix(row, self.base)[..., 0, :]
        if self.base.ndim == 2:
            return self.base[int(index)] + 0
        return xp.take_along_axis(self.base, index[..., None, None], axis=-2)[..., 0, :]


def mixed_distances(mixing: Array, distances: Array) -> Array | None:
    """Squared distances between the rows of ``mixing @ x`` from those between the rows of x.

    For weights u, v with the same sum, ||u x - v x||^2 = -1/2 (u - v)^T D (u - v). A row that mixes an infinite
    vector is infinite itself. None where so many pairs lose digits that forming the points is the better way.
    """
    xp = namespace(distances)
    infinite = distances == float("inf")
    if not bool(xp.any(infinite)):
        return _mixed_distances(mixing, distances)
    n = distances.shape[-1]
    # an infinite vector is infinitely far from all others; a far but finite one may be so from some only
    lost = xp.sum(xp.astype(infinite, xp.int64), axis=-1) * 2 > n
    touched = xp.any((mixing != 0) & lost[..., None, :], axis=-1)
    result = _mixed_distances(mixing, xp.where(infinite, xp.zeros_like(distances), distances))
    if result is None:
        return None
    apart = touched[..., :, None] | touched[..., None, :]
    index = xp.arange(mixing.shape[-2])
    return xp.where(apart & (index[:, None] != index[None, :]), xp.full_like(result, float("inf")), result)


def _mixed_distances(mixing: Array, distances: Array) -> Array | None:
    xp = namespace(distances)
    if is_exact(distances) or distances.shape[-1] <= SMALL:
        difference = mixing[..., :, None, :] - mixing[..., None, :, :]
        result = -xp.sum(xp.matmul(difference, distances[..., None, :, :]) * difference, axis=-1) / 2
        return result if is_exact(result) else xp.where(result < 0, xp.zeros_like(result), result)
    # inner products about a central vector, of what the rows mix otherwise than a central row: so a far vector only
    # matters where it is mixed, and mixtures that are close to each other keep their digits
    inner, row = _about(distances, xp.argmin(xp.sum(distances, axis=-1), axis=-1))
    middle = xp.argmin(xp.matmul(mixing, row[..., None])[..., 0], axis=-1)
    other = mixing - xp.take_along_axis(mixing, middle[..., None, None], axis=-2)
    product = xp.matmul(xp.matmul(other, inner), xp.matrix_transpose(other))
    squares = xp.linalg.diagonal(product)
    result = squares[..., :, None] + squares[..., None, :] - (product + xp.matrix_transpose(product))
    # what is rounded is at most |u|^T |B| |v| with |B_kl| <= (B_kk B_ll)^(1/2)
    reach = xp.matmul(abs(other), xp.sqrt(row)[..., None])[..., 0]
    apart = off_diagonal(mixing)
    cancelled = apart & ~(result >= CANCELLED * (reach[..., :, None] + reach[..., None, :]) ** 2)
    result = xp.where(apart, result, xp.zeros_like(result))
    if int(xp.sum(xp.astype(cancelled, xp.int64))) * mixing.shape[-1] > MOST_DIFFERENCES:
        return None
    first = xp.nonzero(cancelled)
    batch, (one, two) = first[:-2], first[-2:]
    difference = mixing[(*batch, one)] - mixing[(*batch, two)]
    again = -xp.sum(xp.matmul(difference[..., None, :], distances[batch])[..., 0, :] * difference, axis=-1) / 2
    result[first] = again
    return xp.where(result < 0, xp.zeros_like(result), result)


def _about(distances: Array, pivot: Array) -> tuple[Array, Array]:
    """The inner products about the vector of that index, and the squared distances from it."""
    xp = namespace(distances)
    row = xp.take_along_axis(distances, pivot[..., None, None], axis=-2)[..., 0, :]
    return (row[..., :, None] + row[..., None, :] - distances) / 2, row


def _mix(mixing: Array, x: Array) -> Array:
    """``mixing @ x``, where a zero weight leaves an infinite entry out, and a NaN in x is refused.

    Infinite entries of both signs in one mixture become +inf: what is left of them is that they are not finite.
    """
    xp = namespace(x)
    if is_exact(x):
        return xp.matmul(mixing, x)
    weights = xp.astype(mixing, x.dtype, copy=False)
    with np.errstate(invalid="ignore", over="ignore"):
        result = _sparse_product(weights, x) if _is_sparse(weights, x) else xp.matmul(weights, x)
        # a sum is finite only if all its terms are, and much cheaper to look at
        if bool(xp.isfinite(xp.sum(result))) or bool(xp.all(xp.isfinite(result))):
            return result
    reject_nan(x)
    finite = xp.isfinite(x)
    result = xp.matmul(weights, xp.where(finite, x, xp.zeros_like(x)))
    used = xp.astype(weights != 0, x.dtype)
    for sign in (-1, 1):
        at = xp.matmul(used, xp.astype(~finite & (x * sign > 0), x.dtype)) > 0
        result = xp.where(at, xp.full_like(result, sign * float("inf")), result)
    return result


def _representable(weights: Array, x: Array) -> tuple[Array, Array | None]:
    """The weights without those that x's float32 cannot hold, and what these add: tiny shares of very far vectors."""
    xp = namespace(x)
    if is_exact(x) or x.dtype != xp.float32:
        return weights, None
    tiny = (weights != 0) & (abs(weights) < LEAST_WEIGHT)
    if not bool(tiny.any()):
        return weights, None
    nothing = xp.zeros_like(weights)
    share = xp.where(tiny, weights, nothing)
    double = xp.astype(xp.where(tiny[..., None], x, xp.zeros_like(x)), xp.float64)
    added = xp.matmul(share[..., None, :], double)[..., 0, :]
    return xp.where(tiny, nothing, weights), xp.astype(added, x.dtype)


def _is_sparse(weights: Array, x: Array) -> bool:
    """Whether few enough weights count that adding rows is cheaper than a matrix product: buckets, one vector."""
    plain = isinstance(x, np.ndarray) and x.ndim == 2 and weights.ndim == 2
    return plain and weights.size > 64 and bool(4 * np.count_nonzero(weights) <= weights.size)


def _sparse_product(weights: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    result = np.zeros((len(weights), x.shape[1]), dtype=x.dtype)
    scratch = np.empty(x.shape[1], dtype=x.dtype)
    for row, target in zip(weights, result, strict=True):
        for index in np.flatnonzero(row):
            np.add(target, np.multiply(x[index], row[index], out=scratch), out=target)
    return result
