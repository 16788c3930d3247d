"""Reductions of sorted values, coordinate by coordinate: what cwtm, cwmed and meamed share."""

from __future__ import annotations

import numpy as np

from kappaguard.rules import native
from kappaguard.rules.arrays import Array, device_of, is_exact, namespace
from kappaguard.rules.checks import reject_nan

ROUNDINGS = 8
"""The median and a difference from it carry this many roundings at most; values nearer than that are tied."""


def window_mean(x: Array, low: int, high: int) -> Array:
    """The mean of the values of ranks low .. high - 1 along axis -2."""
    if native.applies(x):
        result = native.window_mean(x, low, high)
        if result is not None:
            return result
    reject_nan(x)
    kept = _sorted(x)[..., low:high, :]
    return namespace(x).sum(kept, axis=-2) / (high - low)


def mean_around_median(x: Array, kept: int) -> Array:
    """The mean of the ``kept`` values nearest to the median along axis -2.

    In sorted order v_0 <= ... <= v_(n-1) these are v_k .. v_(k + kept - 1), where k counts the i for which v_i is
    farther from the median than v_(i + kept); the condition holds for the first k values of i only.
    """
    xp = namespace(x)
    margin = 0.0 if is_exact(x) else ROUNDINGS * float(xp.finfo(x.dtype).eps)
    if native.applies(x):
        result = native.mean_around_median(x, kept, margin)
        if result is not None:
            return result
    reject_nan(x)
    n = x.shape[-2]
    values = _sorted(x)
    below, above = values[..., (n - 1) // 2, :], values[..., n // 2, :]
    median = xp.where(below == above, below, (below + above) / 2)[..., None, :]
    left, right = values[..., : n - kept, :], values[..., kept:, :]
    slack = 0 if is_exact(x) else margin * (xp.abs(right) + xp.abs(median))
    first = xp.sum(xp.astype(median - left > (right - median) + slack, xp.int64), axis=-2)[..., None, :]
    place = xp.reshape(xp.arange(n, device=device_of(x)), (n, 1))
    inside = (place >= first) & (place < first + kept)
    zero = np.array(0, dtype=object) if is_exact(x) else xp.zeros_like(values)
    return xp.sum(xp.where(inside, values, zero), axis=-2) / kept


def _sorted(x: Array) -> Array:
    xp = namespace(x)
    return xp.sort(x, axis=-2)
