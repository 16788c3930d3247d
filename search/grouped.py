"""Inputs with symmetry: few groups of workers, each scattered evenly around its mean.

Worst inputs of rules that do not look at the order of the workers have few kinds of workers. A group g has a mean
(a ``level``), in k dimensions, and a ``scatter`` s_g: its workers sit at

    mean_g + s_g (e_i - mean of e_j over g),

with one unit vector e_i per worker, orthogonal to everything else. This is every Gram matrix that permutations within
the groups leave as it is: a rule that sees inner products only is thus searched in Gram space, in at most k + n
columns whatever dimension the worst input needs. Without scatter the group is one vector, used several times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Grouped:
    """A batch: levels (b, g, k), scatters (b, g), and for every worker the number of its group, (b, n)."""

    levels: Floats
    scatters: Floats
    places: Integers

    def __len__(self) -> int:
        return len(self.levels)

    def __getitem__(self, rows: Integers | slice) -> Grouped:
        return Grouped(self.levels[rows], self.scatters[rows], self.places[rows])

    def __add__(self, other: Grouped) -> Grouped:
        return Grouped(
            np.concatenate([self.levels, other.levels]),
            np.concatenate([self.scatters, other.scatters]),
            np.concatenate([self.places, other.places]),
        )

    def inputs(self) -> Floats:
        """The inputs, (b, n, k) without any scatter, else (b, n, k + n)."""
        centres: Floats = np.take_along_axis(self.levels, self.places[:, :, None], axis=1)
        if not np.any(self.scatters):
            return centres
        same = self.places[:, :, None] == self.places[:, None, :]
        corners = np.eye(self.places.shape[1]) - same / np.sum(same, axis=2, keepdims=True)
        size = np.take_along_axis(self.scatters, self.places, axis=1)
        return np.concatenate([centres, size[:, :, None] * corners], axis=2)


def recovered(x: Floats, tolerance: float = 1e-6) -> Grouped:
    """The orbits (a batch of one) of an input: workers that can be exchanged without changing any distance.

    The input that the orbits stand for has the same distances, up to the tolerance, not the same coordinates.
    """
    n = len(x)
    offsets = x[:, None, :] - x[None, :, :]
    distances = np.sum(offsets * offsets, axis=-1)
    grain = tolerance * (float(np.max(distances)) or 1.0)
    places = np.full(n, -1, dtype=np.int64)
    groups = 0
    for worker in range(n):
        if places[worker] >= 0:
            continue
        gaps = np.abs(distances - distances[worker])
        gaps[:, worker] = 0
        np.fill_diagonal(gaps, 0)
        alike = np.all(gaps <= grain, axis=1) & (places < 0)
        alike[worker] = True
        places[alike] = groups
        groups += 1
    means = np.stack([np.mean(x[places == group], axis=0) for group in range(groups)])
    scatters = np.zeros(groups)
    for group in range(groups):
        size = int(np.sum(places == group))
        if size > 1:
            inner = np.mean(np.sum((x[places == group] - means[group]) ** 2, axis=1))
            scatters[group] = np.sqrt(inner * size / (size - 1))
    scatters[scatters**2 <= grain] = 0
    return Grouped(_narrow(means)[None], scatters[None], places[None])


def _narrow(points: Floats) -> Floats:
    """Points with the same distances in as few dimensions as possible, at least one."""
    centre = points[0]
    turned, sizes, _ = np.linalg.svd(points - centre, full_matrices=False)
    kept = max(1, int(np.sum(sizes > NEGLIGIBLE * max(float(sizes[0]), 1e-300))))
    return np.asarray(turned[:, :kept] * sizes[:kept])


def distinct(x: Floats, tolerance: float = 1e-6) -> Grouped:
    """The different vectors of an input as levels without scatter, in the coordinates that they have."""
    grain = tolerance * (float(np.max(np.abs(x))) or 1.0)
    _, first, places = np.unique(np.round(x / grain), axis=0, return_index=True, return_inverse=True)
    levels = x[first]
    return Grouped(levels[None], np.zeros((1, len(levels))), places.reshape(1, -1).astype(np.int64))
