"""MDA: the mean of the subset with the smallest diameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, device_of, namespace, to_numpy
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import ranks
from kappaguard.rules.recipe.recipe import Recipe, Subset
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class MinimumDiameterAveraging(Rule):
    """The mean of the n - f vectors with the smallest diameter.

    Definition (El Mhamdi et al. 2021, after Rousseeuw 1985): the mean over a subset of n - f vectors whose largest
    pairwise distance is smallest. Exact, by binary search over the distances: a subset of diameter at most t is
    what remains when a vertex cover of at most f vertices is taken out of the graph of all pairs farther than t.
    Ties: the lexicographically first subset. Needs f < n/2.
    Coefficient: the paper states none.
    """

    f: int
    name: ClassVar[str] = "mda"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "mda: f")

    def recipe(self, n: int) -> Recipe:
        """The subset of n - f vectors with the least diameter."""
        require_minority(self.name, n, self.f)
        return Recipe(n, Subset(n - self.f, "diameter"))

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the tightest subset."""
        n = cloud.n
        require_minority(self.name, n, self.f)
        distances = cloud.distances
        xp = namespace(distances)
        batch = distances.shape[:-2]
        pair_ranks = xp.reshape(ranks(xp.reshape(distances, (*batch, n * n))), (math.prod(batch), n, n))
        chosen = np.zeros((len(pair_ranks), n), dtype=bool)
        for row, matrix in zip(chosen, to_numpy(pair_ranks), strict=True):
            row[tightest_subset(matrix, self.f)] = True
        mask = xp.reshape(xp.asarray(chosen, device=device_of(distances)), (*batch, n))
        return cloud.combine(uniform(mask, n - self.f, distances))


def tightest_subset(pair_ranks: NDArray[np.int64], f: int) -> list[int]:
    """The lexicographically first subset of n - f indices with the smallest largest rank."""
    n = len(pair_ranks)
    levels = np.unique(pair_ranks)
    low, high = 0, len(levels) - 1
    while low < high:
        middle = (low + high) // 2
        if _coverable(_conflicts(pair_ranks, levels[middle]), f):
            high = middle
        else:
            low = middle + 1
    graph = _conflicts(pair_ranks, levels[low])
    kept: list[int] = []
    removed = 0
    for vertex in range(n):
        if removed >> vertex & 1 or len(kept) == n - f:
            continue
        trial = removed | graph[vertex]
        if trial.bit_count() <= f and _coverable(_without(graph, trial), f - trial.bit_count()):
            removed = trial
            kept.append(vertex)
        else:
            removed |= 1 << vertex
    return kept


def _conflicts(pair_ranks: NDArray[np.int64], level: int) -> list[int]:
    """Per vertex, the bit set of the vertices farther than the level."""
    far = pair_ranks > level
    return [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in far]


def _without(graph: list[int], removed: int) -> list[int]:
    return [0 if removed >> vertex & 1 else edges & ~removed for vertex, edges in enumerate(graph)]


def _coverable(graph: list[int], budget: int) -> bool:
    """Whether at most ``budget`` vertices touch every edge.

    Take a vertex of largest degree: either it is in the cover, or all its neighbours are. A vertex with more
    neighbours than the budget must be in it; with degree at most D and more than budget x D edges there is none;
    paths and cycles (degree at most 2) need no branching.
    """
    while True:
        degrees = [edges.bit_count() for edges in graph]
        largest = max(degrees, default=0)
        if largest == 0:
            return True
        if budget <= 0 or sum(degrees) > 2 * budget * largest:
            return False
        if largest > budget or 1 in degrees:
            # a neighbour of a vertex of degree one covers at least as much as that vertex does
            vertex = degrees.index(largest) if largest > budget else graph[degrees.index(1)].bit_length() - 1
            graph, budget = _without(graph, 1 << vertex), budget - 1
            continue
        if largest == 2:
            return _cycle_cover(graph) <= budget
        vertex = degrees.index(largest)
        if _coverable(_without(graph, 1 << vertex), budget - 1):
            return True
        graph, budget = _without(graph, graph[vertex]), budget - largest


def _cycle_cover(graph: list[int]) -> int:
    """The least vertex cover of disjoint cycles: half of each, rounded up."""
    seen, total = 0, 0
    for vertex, edges in enumerate(graph):
        if not edges or seen >> vertex & 1:
            continue
        component, frontier = 1 << vertex, 1 << vertex
        while frontier:
            reached = 0
            for member in range(len(graph)):
                if frontier >> member & 1:
                    reached |= graph[member]
            frontier = reached & ~component
            component |= reached
        seen |= component
        total += (component.bit_count() + 1) // 2
    return total
