"""The largest value of a function of one number that jumps: a grid over both signs, then finer ones around its peaks.

Against a rule that selects vectors the error grows with eta until the Byzantine vectors are dropped, so that the best
eta sits right before a jump; there may be several such peaks. Values are asked for in batches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NEAR, FAR = 0.05, 20.0
"""Between these multiples of the unit the first grid is dense; it reaches from LEAST to MOST."""
LEAST, MOST = 1e-3, 1e4
PARTS = 6
STABLE = 2e-5
"""The chosen number keeps its value when it is moved by this part of itself: no coin toss at a jump."""
SIMILAR = 0.985
APART = 0.05


@dataclass(frozen=True)
class Grids:
    """How many points the first grid has per sign (dense, below and above), how many peaks each finer one looks at.

    Of values that differ by less than the part ``equal``, the one with the smallest eta is taken: most errors level off
    as eta grows. If far away the value is larger and every peak of the first grid is below the part ``worth`` of it, no
    finer grid is needed; 0 for always.
    """

    dense: int
    below: int
    above: int
    peaks: tuple[int, ...]
    equal: float
    worth: float


JUMPING = Grids(96, 6, 12, (10, 4, 2), 2e-4, 0.0)
SMOOTH = Grids(14, 2, 4, (2, 1, 1), 1e-5, 0.8)
"""Enough for a function without jumps, whose peaks are as wide as the unit."""

Errors = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Trial:
    """A step along the direction, and the error that it leads to."""

    eta: float
    error: float


def maximise(
    errors: Errors,
    unit: float,
    count: int = 1,
    reach: float = MOST,
    positive: bool = False,
    effort: Grids = JUMPING,
    far: float = 0.0,
) -> list[Trial]:
    """The best ``count`` numbers that are apart from each other, the best one first.

    ``unit`` is the scale on which the function changes; it is searched up to ``reach`` units in both directions, or
    only upwards from 0 if ``positive``; and then it is looked at once more at the number ``far``, if that is given.
    """
    etas = unit * _first_grid(effort, reach, positive)
    ends = np.array(([] if far == 0 else [far]) + ([] if far == 0 or positive else [-far]))
    beyond, values = np.split(_clean(errors(np.concatenate([ends, etas]))), [len(ends)])
    farthest = [Trial(float(eta), float(value)) for eta, value in zip(ends, beyond, strict=True)]
    if effort.worth > 0 and _settled(values, beyond, effort.worth):
        return [max(farthest, key=lambda each: each.error)]
    for peaks in effort.peaks:
        finer = _around_peaks(etas, values, peaks)
        if finer.size == 0:
            break
        etas = np.concatenate([etas, finer])
        values = np.concatenate([values, _clean(errors(finer))])
        order = np.argsort(etas, kind="stable")
        etas, values = etas[order], values[order]
    found = _choose(errors, etas, values, count, effort.equal)
    return sorted([*found, *farthest], key=lambda each: -each.error)[:count] if farthest else found


@lru_cache(maxsize=64)
def _first_grid(effort: Grids, reach: float, positive: bool) -> NDArray[np.float64]:
    """The first grid, in units."""
    steps = np.concatenate(
        [
            np.geomspace(LEAST, NEAR, effort.below, endpoint=False),
            np.geomspace(NEAR, FAR, effort.dense, endpoint=False),
            np.geomspace(FAR, reach, effort.above),
        ]
    )
    grid = np.concatenate([[] if positive else -steps[::-1], [0.0], steps])
    grid.setflags(write=False)
    return grid


def _clean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(values), -1.0, values)


def _settled(values: NDArray[np.float64], beyond: NDArray[np.float64], worth: float) -> bool:
    """Whether far away is the largest value, and every peak of the grid, its ends left out, is plainly below it."""
    if len(beyond) == 0 or values.max() > beyond.max():
        return False
    inside = values[1:-1]
    peaks = inside[(inside >= values[:-2]) & (inside >= values[2:])]
    return bool(np.all(peaks < worth * beyond.max()))


def _around_peaks(etas: NDArray[np.float64], values: NDArray[np.float64], peaks: int) -> NDArray[np.float64]:
    """Points inside the cells on both sides of the best local maxima."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    local = np.flatnonzero((padded[1:-1] >= padded[:-2]) & (padded[1:-1] >= padded[2:]))
    best = local[np.argsort(-values[local], kind="stable")][:peaks]
    inside = np.arange(1, PARTS) / PARTS
    cells = {cell for index in best for cell in (index - 1, index) if 0 <= cell < len(etas) - 1}
    parts = [etas[cell] + inside * (etas[cell + 1] - etas[cell]) for cell in sorted(cells)]
    return np.concatenate(parts) if parts else np.empty(0)


def _choose(
    errors: Errors, etas: NDArray[np.float64], values: NDArray[np.float64], count: int, equal: float
) -> list[Trial]:
    """The best values, each at a point where a tiny move does not lose it."""
    chosen: list[int] = []
    top = float(np.max(values))
    for index in np.argsort(-values, kind="stable"):
        if len(chosen) == 4 * count or values[index] < SIMILAR * top:
            break
        if count == 1 or all(abs(etas[index] - etas[other]) > APART * abs(etas[other]) for other in chosen):
            chosen.append(int(index))
    if count == 1:
        level = np.flatnonzero(values >= _nearly(top, equal))
        chosen.append(int(level[_by_size(etas[level])[0]]))
    around = np.concatenate([etas[chosen] * (1 - STABLE), etas[chosen] * (1 + STABLE)])
    sides = _clean(errors(around)).reshape(2, -1).min(axis=0)
    steady = np.minimum(sides, values[chosen])
    steady[np.isinf(steady)] = np.finfo(np.float64).max
    level = steady >= _nearly(steady.max(), equal)
    order = _by_size(etas[chosen], -np.where(level, steady.max(), steady))[:count]
    return [Trial(float(etas[chosen[place]]), float(values[chosen[place]])) for place in order]


def _nearly(top: float, equal: float) -> float:
    """What counts as the largest value, which may be infinite, and negative where there was only NaN."""
    return top - equal * abs(top) if np.isfinite(top) else top


def _by_size(etas: NDArray[np.float64], *first: NDArray[np.float64]) -> NDArray[np.intp]:
    """The order by the given keys, then by size, then the positive one of two that rounding alone tells apart."""
    size = np.round(np.log(np.maximum(np.abs(etas), np.finfo(np.float64).tiny)), 9)
    order: NDArray[np.intp] = np.lexsort((etas < 0, size, *first))
    return order
