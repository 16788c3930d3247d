"""Order with a margin: the same choice at a tie in floats as in exact arithmetic.

Squared distances and scores are sums of squares, so float64 gets each to a relative error far below ``MARGIN``.
Two values that close are taken as tied, and ties go to the lower index. In exact fractions only equal values tie.
"""

from __future__ import annotations

import numpy as np

from kappaguard.rules.base.arrays import Array, is_exact, namespace

MARGIN = 1e-11
MANY = 64
"""From so many values on, the smallest are found by selection, and only rows with a tie at the boundary are sorted."""


def ranks(values: Array) -> Array:
    """The rank of every non-negative value along the last axis; neighbours within the margin share a rank."""
    xp = namespace(values)
    position = xp.argsort(values, axis=-1, stable=True)
    ordered = xp.take_along_axis(values, position, axis=-1)
    earlier, later = ordered[..., :-1], ordered[..., 1:]
    apart = later > (earlier if is_exact(values) else earlier * (1 + MARGIN))
    steps = xp.cumulative_sum(xp.astype(apart, xp.int64), axis=-1, include_initial=True)
    return xp.take_along_axis(steps, xp.argsort(position, axis=-1), axis=-1)


def order(values: Array) -> Array:
    """The indices that sort non-negative values along the last axis; ties within the margin by index."""
    xp = namespace(values)
    return xp.argsort(ranks(values), axis=-1, stable=True)


def smallest(values: Array, count: int) -> Array:
    """A mask of the ``count`` smallest of non-negative values along the last axis; ties go to the lower index."""
    if isinstance(values, np.ndarray) and not is_exact(values) and MANY <= values.shape[-1] > count > 0:
        return _selected(values, count)
    xp = namespace(values)
    place = xp.argsort(order(values), axis=-1)
    return place < count


def _selected(values: Array, count: int) -> Array:
    """The same by selection: where the next value is beyond the margin, no tie crosses the boundary."""
    ends = np.partition(values, (count - 1, count), axis=-1)[..., count - 1 : count + 1]
    last, following = ends[..., 0], ends[..., 1]
    mask = values <= last[..., None]
    tied = ~(following > last * (1 + MARGIN))
    if np.any(tied):
        mask[tied] = np.argsort(order(values[tied]), axis=-1) < count
    return mask
