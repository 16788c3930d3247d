"""SMEA: the mean of the subset whose covariance has the smallest largest eigenvalue."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, device_of, namespace, to_numpy
from kappaguard.rules.base.checks import require_count, require_inexact, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import MARGIN
from kappaguard.rules.weights import uniform

CHUNK = 2048
"""How many subsets are held at once, if there are more than ``MOST_KEPT``."""
MOST_KEPT = 4096
FIRST = 16
"""How many subsets are asked for their eigenvalue before all others that the bounds leave over."""
ROUNDINGS = 64.0
MOST_SUBSETS = 10**8
"""Going through more takes longer than anybody waits."""


@dataclass(frozen=True)
class SmallestMaximumEigenvalueAveraging(Rule):
    """The mean of the n - f vectors whose covariance has the smallest largest eigenvalue.

    Definition (Allouah et al. 2023): over all subsets of n - f vectors. Exact, in chunks of subsets, of which only
    those go to the eigenvalue solver that three lower bounds leave over: the largest eigenvalue of a scatter matrix
    is at least its trace over its rank, at least half the largest squared distance, and at least the scatter along
    any direction, for which the principal axes of all n vectors are taken.
    Ties: the first subset in lexicographic order. Needs f < n/2.
    """

    f: int
    name: ClassVar[str] = "smea"
    _traits: ClassVar[Traits] = Traits(rational=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "smea: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the best subset."""
        require_inexact(self.name, cloud.base)
        n = cloud.n
        require_minority(self.name, n, self.f)
        distances = cloud.distances
        xp = namespace(distances)
        batch = distances.shape[:-2]
        chosen = np.zeros((math.prod(batch), n), dtype=bool)
        for row, matrix in zip(chosen, to_numpy(distances).reshape(-1, n, n), strict=True):
            row[flattest_subset(matrix, n - self.f)] = True
        mask = xp.reshape(xp.asarray(chosen, device=device_of(distances)), (*batch, n))
        return cloud.combine(uniform(mask, n - self.f, distances))


def flattest_subset(distances: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """The subset of the given size with the smallest largest eigenvalue of its scatter matrix."""
    unseen = np.isinf(distances).sum(axis=-1)
    reachable = np.flatnonzero(unseen <= np.sort(unseen)[size - 1])
    count = math.comb(len(reachable), size)
    if count > MOST_SUBSETS:
        raise InputError(
            f"smea would go through {count:.2g} subsets of {size} out of {len(reachable)} vectors; "
            f"more than {MOST_SUBSETS:.0e} are not tried"
        )
    best, least = np.arange(size), np.inf
    axes = _axes(distances[np.ix_(reachable, reachable)])
    for subsets in _chunks(len(reachable), size):
        place, value = _flattest(distances, axes, reachable[subsets], subsets, least)
        if place is not None:
            best, least = reachable[subsets[place]], value
    return best


def _flattest(
    distances: NDArray[np.float64],
    axes: NDArray[np.float64],
    members: NDArray[np.intp],
    subsets: NDArray[np.intp],
    least: float,
) -> tuple[int | None, float]:
    """The first of the subsets with the smallest largest eigenvalue, if that is below ``least``, and that value.

    The subsets with the smallest lower bounds are asked first; then those whose bounds, also by the moments of their
    eigenvalues, are no larger than the best of these.
    """
    size = subsets.shape[1]
    square = distances[members[:, :, None], members[:, None, :]]
    total = square.sum(axis=(1, 2)) / (2 * size)
    bound = np.maximum(total / max(1, size - 1), square.max(axis=(1, 2)) / 2)
    bound = np.maximum(bound, _along(axes, subsets))
    value = np.full(len(subsets), np.inf)
    limit = least * (1 - MARGIN)
    for count, sharper in ((FIRST, False), (len(subsets), True)):
        asked = np.argsort(bound, kind="stable")[:count]
        asked = asked[(bound[asked] <= limit) & np.isfinite(bound[asked]) & np.isinf(value[asked])]
        if not len(asked):
            break
        mean = square[asked].mean(axis=2)
        gram = (mean[:, :, None] + mean[:, None, :] - square[asked] - mean.mean(axis=1)[:, None, None]) / 2
        if sharper:
            left = _by_moments(gram) <= limit
            asked, gram = asked[left], gram[left]
        value[asked] = np.linalg.eigvalsh(gram)[:, -1]
        limit = min(limit, float(value.min()) * (1 + MARGIN))
    smallest = float(value.min())
    if not smallest < least * (1 - MARGIN):
        return None, least
    place = int(np.argmax(value <= smallest * (1 + MARGIN)))
    return place, float(value[place])


def _axes(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates of the vectors along the principal axes of all of them; none if some are infinitely far."""
    if not np.isfinite(distances).all():
        return np.zeros((len(distances), 0))
    mean = distances.mean(axis=1)
    gram = (mean[:, None] + mean[None, :] - distances - mean.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    coordinates: NDArray[np.float64] = vectors * np.sqrt(np.maximum(values, 0.0))
    return coordinates


def _by_moments(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """A lower bound on the largest eigenvalue l of a: the sum of l_i^8 over that of l_i^6 is at most l^2."""
    trace = np.trace(gram, axis1=1, axis2=2)
    unit = gram / np.where(trace > 0, trace, 1.0)[:, None, None]
    square = unit @ unit
    fourth = square @ square
    eighth, sixth = np.einsum("kij,kij->k", fourth, fourth), np.einsum("kij,kij->k", fourth, square)
    known: NDArray[np.float64] = trace * np.sqrt(eighth / np.where(sixth > 0, sixth, 1.0)) * (1 - MARGIN)
    return known


def _along(axes: NDArray[np.float64], subsets: NDArray[np.intp]) -> NDArray[np.float64]:
    """A lower bound on the largest eigenvalue: the largest scatter along one of the axes, less rounding."""
    if not axes.shape[1]:
        return np.zeros(len(subsets))
    size = subsets.shape[1]
    chosen = np.zeros((len(subsets), len(axes)))
    np.put_along_axis(chosen, subsets, 1.0, axis=1)
    scatter = chosen @ axes**2 - (chosen @ axes) ** 2 / size
    lost = ROUNDINGS * np.finfo(np.float64).eps * len(axes) * float((axes**2).sum(axis=1).max())
    along: NDArray[np.float64] = np.maximum(scatter.max(axis=1) - lost, 0.0)
    return along


def _chunks(count: int, size: int) -> Iterator[NDArray[np.intp]]:
    """All subsets of that many places, in lexicographic order; the same few are asked for again and again."""
    if math.comb(count, size) <= MOST_KEPT:
        yield _all_subsets(count, size)
        return
    subsets = combinations(range(count), size)
    while chunk := list(islice(subsets, CHUNK)):
        yield np.array(chunk, dtype=np.intp)


@lru_cache(maxsize=4)
def _all_subsets(count: int, size: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(count), size)), dtype=np.intp)
