"""SMEA: the mean of the subset whose covariance has the smallest largest eigenvalue."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
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
"""How many subsets are held at once."""
MOST_SUBSETS = 10**8
"""Going through more takes longer than anybody waits."""


@dataclass(frozen=True)
class SmallestMaximumEigenvalueAveraging(Rule):
    """The mean of the n - f vectors whose covariance has the smallest largest eigenvalue.

    Definition (Allouah et al. 2023): over all subsets of n - f vectors. Exact, in chunks of subsets, of which only
    those go to the eigenvalue solver that two lower bounds leave over: the largest eigenvalue of a scatter matrix
    is at least its trace over its rank, and at least half the largest squared distance.
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
    best = np.arange(size)
    least = np.inf
    for subsets in _chunks(reachable, size):
        square = distances[subsets[:, :, None], subsets[:, None, :]]
        total = square.sum(axis=(1, 2)) / (2 * size)
        bound = np.maximum(total / max(1, size - 1), square.max(axis=(1, 2)) / 2)
        open_ = np.flatnonzero(bound < least * (1 - MARGIN))
        if not len(open_):
            continue
        mean = square[open_].mean(axis=2)
        gram = (mean[:, :, None] + mean[:, None, :] - square[open_] - mean.mean(axis=1)[:, None, None]) / 2
        value = np.linalg.eigvalsh(gram)[:, -1]
        first = int(np.argmax(value <= value.min() * (1 + MARGIN)))
        if value[first] < least * (1 - MARGIN):
            least, best = float(value[first]), subsets[open_[first]]
    return best


def _chunks(items: NDArray[np.intp], size: int) -> Iterator[NDArray[np.intp]]:
    subsets = combinations(items.tolist(), size)
    while chunk := list(islice(subsets, CHUNK)):
        yield np.array(chunk, dtype=np.intp)
