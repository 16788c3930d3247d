"""Scaling vectors down to a length: what clipping, ARC and centered clipping share."""

from __future__ import annotations

import numpy as np

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, in_double, namespace
from kappaguard.rules.base.checks import reject_nan


def lengths(x: Array) -> Array:
    """Euclidean norms along the last axis in float64, without overflow; NaN in x is refused."""
    xp = namespace(x)
    with np.errstate(over="ignore", under="ignore"):
        norm = _compiled_lengths(x) if native.applies(x) else xp.linalg.vector_norm(in_double(x), axis=-1)
        if bool(xp.all((norm == 0) | ((norm > 1e-100) & (norm < 1e100)))):
            return norm
        reject_nan(x)
        wide = in_double(x)
        largest = xp.max(xp.abs(wide), axis=-1)
        unit = xp.where((largest > 0) & xp.isfinite(largest), largest, xp.ones_like(largest))
        return unit * xp.linalg.vector_norm(wide / unit[..., None], axis=-1)


def _compiled_lengths(x: Array) -> Array:
    return np.sqrt(native.squared_lengths(x))


def shrinkage(norm: Array, limit: Array | float) -> Array:
    """The factor min(1, limit/norm) that brings a vector of that norm within the limit."""
    xp = namespace(norm)
    longer = norm > limit
    return xp.where(longer, limit / xp.where(longer, norm, xp.ones_like(norm)), xp.ones_like(norm))


def clip(x: Array, norm: Array, limit: Array | float) -> Array:
    """Every vector of x scaled down to length ``limit`` if its norm is larger.

    An infinite vector becomes the limit of its finite ancestors: its infinite entries share the length equally,
    the finite ones vanish.
    """
    xp = namespace(x)
    limit = xp.zeros_like(norm) + limit
    factor = shrinkage(norm, limit)
    infinite = xp.isinf(norm) & (norm > limit)
    if not bool(xp.any(infinite)):
        return x * xp.astype(factor, x.dtype)[..., None]
    at = xp.isinf(x)
    direction = xp.where(at, xp.sign(xp.where(at, x, xp.zeros_like(x))), xp.zeros_like(x))
    count = xp.sum(xp.astype(at, xp.float64), axis=-1)
    share = xp.astype(limit / xp.sqrt(xp.where(count > 0, count, xp.ones_like(count))), x.dtype)
    finite = xp.where(infinite[..., None], xp.zeros_like(x), x)
    factor = xp.where(infinite, xp.zeros_like(factor), factor)
    return finite * xp.astype(factor, x.dtype)[..., None] + xp.where(
        infinite[..., None], direction * share[..., None], xp.zeros_like(x)
    )
