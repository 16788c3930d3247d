"""Reductions of sorted values, coordinate by coordinate: what cwtm, cwmed and meamed share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, device_of, in_double, is_exact, namespace
from kappaguard.rules.base.checks import reject_nan

ROUNDINGS = 8
"""The median and a difference from it carry this many roundings at most; values nearer than that are tied."""


def window_mean(x: Array, low: int, high: int) -> Array:
    """The mean of the values of ranks low .. high - 1 along axis -2."""
    if native.applies(x):
        result = native.window_mean(x, low, high)
        if result is not None and _is_finite(result):
            return result
    reject_nan(x)
    return _mean(_sorted(x)[..., low:high, :], high - low)


def mean_around_median(x: Array, kept: int) -> Array:
    """The mean of the ``kept`` values nearest to the median along axis -2.

    In sorted order v_0 <= ... <= v_(n-1) these are v_k .. v_(k + kept - 1), where k counts the i for which v_i is
    farther from the median than v_(i + kept); the condition holds for the first k values of i only.
    """
    xp = namespace(x)
    margin = 0.0 if is_exact(x) else ROUNDINGS * float(xp.finfo(x.dtype).eps)
    if native.applies(x):
        result = native.mean_around_median(x, kept, margin)
        if result is not None and _is_finite(result):
            return result
    reject_nan(x)
    n = x.shape[-2]
    values = _sorted(x)
    # compared as quarters in double, which cannot overflow
    quarters = values if is_exact(x) else in_double(values) / 4
    below, above = quarters[..., (n - 1) // 2, :], quarters[..., n // 2, :]
    median = xp.where(below == above, below, (below + above) / 2)[..., None, :]
    left, right = quarters[..., : n - kept, :], quarters[..., kept:, :]
    slack = 0 if is_exact(x) else margin * (xp.abs(right) + xp.abs(median))
    first = xp.sum(xp.astype(median - left > (right - median) + slack, xp.int64), axis=-2)[..., None, :]
    place = xp.reshape(xp.arange(n, device=device_of(x)), (n, 1))
    inside = (place >= first) & (place < first + kept)
    zero = np.array(0, dtype=object) if is_exact(x) else xp.zeros_like(values)
    return _mean(xp.where(inside, values, zero), kept)


def _sorted(x: Array) -> Array:
    xp = namespace(x)
    return xp.sort(x, axis=-2)


def _mean(values: Array, count: int) -> Array:
    """The sum of the values over their number along axis -2; in double, and divided first if the sum overflows."""
    xp = namespace(values)
    if is_exact(values):
        return xp.sum(values, axis=-2) / count
    wide = in_double(values)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = xp.sum(wide, axis=-2) / count
        if not bool(xp.all(xp.isfinite(mean))):
            mean = xp.sum(wide / count, axis=-2)
    return xp.astype(mean, values.dtype)


def _is_finite(x: NDArray[Any]) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(x.sum())) or bool(np.isfinite(x).all())
