"""The worst set S for one input and one output.

Enumerated as long as there are few sets. Beyond, for the trace, a property of the worst set helps. With the output as
origin, s = mean_S and q the mean of ||x_i||^2 over S, the ratio of S is at least t if and only if

    phi(S) = (1 + t) ||s||^2 - t q >= 0,

which is convex in the linear statistics (s, q) of S. So phi does not decrease when S is replaced by the set that
maximises its linearisation at S, the m vectors with the smallest

    (1 + t) mean over j in S of ||x_i - x_j||^2 - ||x_i - output||^2,

which are the m vectors nearest to some centre. Repeated with t the ratio of S, the ratio never decreases; and the
worst set is itself of this kind. In one dimension the m nearest to a centre are m neighbours in sorted order, of which
there are only f + 1: the worst set is found exactly for every n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, as_array, is_exact, to_numpy
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.distances import squared_distances
from kappaguard.rules.ratio import TRACE, Criterion, criterion_named, ratio

MOST_SETS = 20_000
"""Up to this many sets are enumerated."""
ENTRIES = 1 << 21
"""How many numbers are held at once."""
NEAR = 1e-9
"""Sets whose ratios, as computed from distances, are this near to the best are computed again from the vectors."""
STARTS, STEPS, SWAP_EVALUATIONS = 200, 50, 20_000


@dataclass(frozen=True)
class WorstSubset:
    """The largest ratio found, of shape (...), and its S as sorted indices of shape (..., n - f).

    ``exact`` says that no set has a larger one; otherwise the ratio is a lower bound on the largest.
    """

    ratio: Array
    subset: NDArray[np.int64]
    exact: bool


def worst_subset(
    output: Array, x: Array, f: int, criterion: str | Criterion = "trace", most_sets: int = MOST_SETS
) -> WorstSubset:
    """The set S of n - f vectors with the largest ratio; sets with a vector that is not finite are left out."""
    measure = criterion_named(criterion)
    points, aggregate = as_array(x), as_array(output)
    if not isinstance(points, np.ndarray):
        points, aggregate = to_numpy(points), to_numpy(aggregate)
    if points.ndim < 2 or aggregate.shape != (*points.shape[:-2], points.shape[-1]):
        raise InputError(f"an output of shape {aggregate.shape} does not belong to x of shape {points.shape}")
    n = points.shape[-2]
    if not 0 <= f < n:
        raise InputError(f"f must be between 0 and n - 1, got n = {n} and f = {f}")
    if is_exact(points) and not measure.rational:
        raise InputError(f"the {measure.name} criterion is irrational and does not run on exact fractions; pass floats")
    batch = points.shape[:-2]
    found = [_worst(aggregate[place], points[place], f, measure, most_sets) for place in np.ndindex(*batch)]
    values = np.array([value for value, _, _ in found], dtype=object if is_exact(points) else np.float64)
    subsets = np.array([subset for _, subset, _ in found], dtype=np.int64).reshape(*batch, n - f)
    return WorstSubset(values.reshape(batch)[()], subsets, all(exact for _, _, exact in found))


def _worst(
    output: NDArray[Any], x: NDArray[Any], f: int, measure: Criterion, most_sets: int
) -> tuple[Any, NDArray[np.int64], bool]:
    n = len(x)
    usable = np.arange(n) if is_exact(x) else np.flatnonzero(np.all(np.isfinite(x), axis=-1))
    m = n - f
    if len(usable) < m:
        raise InputError(f"only {len(usable)} of the {n} vectors are finite, which leaves no set of n - f = {m}")
    points = x[usable]
    if measure is TRACE and x.shape[-1] == 1:
        ordered = np.argsort(points[:, 0], kind="stable")
        sets, exact = np.stack([ordered[start : start + m] for start in range(len(usable) - m + 1)]), True
    else:
        exact = math.comb(len(usable), m) <= most_sets
        view = _Distances(output, points, measure, n, f)
        sets = view.best(_every_set(len(usable), m)) if exact else view.climb(m)
    chosen = np.sort(usable[sets], axis=-1)
    value, subset = max(
        (_largest(output, x, chunk, measure) for chunk in _chunks(chosen, x.shape[-1])), key=lambda pair: pair[0]
    )
    return value, subset, exact


def _largest(
    output: NDArray[Any], x: NDArray[Any], sets: NDArray[np.int64], measure: Criterion
) -> tuple[Any, NDArray[np.int64]]:
    values = ratio(output, x, sets, measure)
    if not is_exact(x) and np.any(np.isnan(values)):
        raise InputError("the output is not a number")
    best = max(range(len(values)), key=lambda row: values[row])
    return values[best], sets[best]


def _chunks(sets: NDArray[np.int64], width: int) -> list[NDArray[np.int64]]:
    step = max(1, ENTRIES // max(1, sets.shape[-1] * width))
    return [sets[start : start + step] for start in range(0, len(sets), step)]


def _every_set(n: int, m: int) -> NDArray[np.int64]:
    count = math.comb(n, m)
    flat = np.fromiter(chain.from_iterable(combinations(range(n), m)), dtype=np.int64, count=count * m)
    return flat.reshape(count, m)


class _Distances:
    """What the search sees: squared distances between the vectors (and the output), in float64."""

    def __init__(self, output: NDArray[Any], points: NDArray[Any], measure: Criterion, n: int, f: int) -> None:
        together = np.concatenate([points, output[None, :]])
        if is_exact(together):
            # where floats have most digits: near zero and of size one
            together = together - together[0]
            size = max((abs(value) for value in together.ravel()), default=0) or Fraction(1)
            together = np.array([[float(Fraction(value) / size) for value in row] for row in together])
        with np.errstate(all="ignore"):
            pairs = squared_distances(together)
        self.measure, self.share = measure, float(measure.share(n, f))
        self.pairs, self.far = pairs[:-1, :-1], pairs[-1, :-1]
        self.reliable = bool(np.all(np.isfinite(pairs)))

    def values(self, sets: NDArray[np.int64]) -> NDArray[Any]:
        """The ratio of each set: mean distance to the output = variance + error. Infinite where it cannot be told."""
        result = np.full(len(sets), np.inf)
        m = sets.shape[-1]
        step = max(1, ENTRIES // (m * m))
        for start in range(0, len(sets), step):
            chunk = sets[start : start + step]
            inside = self.pairs[chunk[:, :, None], chunk[:, None, :]]
            variance = TRACE.of_distances(inside)
            error = np.maximum(np.mean(self.far[chunk], axis=-1) - variance, 0)
            spread = self.measure.of_distances(inside) * self.share
            np.divide(error, spread, out=result[start : start + step], where=spread > 0)
        return result

    def best(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sets whose ratio may be the largest."""
        if not self.reliable:
            return sets
        values = self.values(sets)
        unknown = np.isinf(values)
        top = np.max(values, where=~unknown, initial=0.0)
        candidates: NDArray[np.int64] = sets[unknown | (values >= top - NEAR * (1 + top))]
        return candidates

    def climb(self, m: int) -> NDArray[np.int64]:
        """Good sets, where there are too many to look at: from several starts, see above; then by swaps."""
        n = len(self.pairs)
        generator = np.random.default_rng(0)
        with np.errstate(invalid="ignore"):
            pairs = np.where(np.isfinite(self.pairs), self.pairs, 1e300 / n)
            far = np.where(np.isfinite(self.far), self.far, 1e300 / n)
        centres = pairs if n <= STARTS else pairs[generator.permutation(n)[:STARTS]]
        keys = np.concatenate([centres, far[None], -far[None], generator.random((16, n))])
        sets = np.argsort(keys, axis=-1, kind="stable")[:, :m]
        for _ in range(STEPS):
            mask = np.zeros((len(sets), n))
            np.put_along_axis(mask, sets, 1.0, axis=-1)
            near = mask @ pairs / m
            variance = np.sum(near * mask, axis=-1) / (2 * m)
            distance = mask @ far / m
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                level = np.where(variance > 0, distance / variance, np.inf)
                # level = 1 + t; in the limit of no variance the nearest neighbours of S
                keys = np.where(np.isinf(level)[:, None], near, level[:, None] * near - far)
            following = np.argsort(keys, axis=-1, kind="stable")[:, :m]
            if np.array_equal(np.sort(following, axis=-1), np.sort(sets, axis=-1)):
                break
            sets = following
        sets = np.unique(np.sort(sets, axis=-1), axis=0)
        if not self.reliable:
            return sets
        return sets if self.measure is TRACE else self._swap(sets)

    def _swap(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The best of the sets after exchanging one vector at a time as long as it helps."""
        n, m = len(self.pairs), sets.shape[-1]
        values = self.values(sets)
        current, value = sets[np.argmax(values)], float(np.max(values))
        left = SWAP_EVALUATIONS
        while left > 0 and math.isfinite(value):
            outside = np.setdiff1d(np.arange(n), current)
            swaps = list(islice(((i, j) for j in outside for i in range(m)), left))
            if not swaps:
                break
            left -= len(swaps)
            trials = np.repeat(current[None], len(swaps), axis=0)
            places, newcomers = np.array(swaps).T
            trials[np.arange(len(swaps)), places] = newcomers
            reached = self.values(trials)
            if not np.max(reached) > value * (1 + 1e-12):
                break
            current, value = np.sort(trials[np.argmax(reached)]), float(np.max(reached))
        return np.concatenate([sets, current[None]])
