"""What a recipe selects, from squared distances alone: the fast path, in NumPy floats or exact fractions.

For the distance to the mean of a pool P, ||v_i - mean||^2 = (1/|P|) sum over P of d_ij - (1/2|P|^2) sum over P x P of
d_jk, and the second term is the same for all i.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.mda import tightest_subset
from kappaguard.rules.ordering import MARGIN, order, ranks, smallest
from kappaguard.rules.recipe.recipe import MeanDistance, NearestSum, PivotDistance, Recipe, Round, Rounds, Subset
from kappaguard.rules.weights import uniform

MOST_STEPS = 5_000_000
"""Nodes of the search for the subset with the least variance; more take longer than anybody waits."""

Distances = NDArray[Any]


def weights(recipe: Recipe, distances: Distances) -> NDArray[Any]:
    """The weight of every input in the output, of shape (n,), from the n x n squared distances of the inputs."""
    n = recipe.n
    if distances.shape != (n, n):
        raise InputError(f"the recipe is for n = {n} vectors, got distances of shape {distances.shape}")
    mixing: NDArray[Any] | None = None
    for count in recipe.mixing:
        layer = uniform(smallest(distances, count), count, distances)
        distances = _mixed(layer, distances)
        mixing = layer if mixing is None else layer @ mixing
    members = chosen_from(recipe, distances)
    mask = np.zeros(n, dtype=bool)
    mask[members] = True
    result: NDArray[Any] = uniform(mask, len(members), distances)
    return result if mixing is None else np.asarray(result @ mixing)


def _mixed(layer: NDArray[Any], distances: Distances) -> Distances:
    difference = layer[:, None, :] - layer[None, :, :]
    result: Distances = -((difference @ distances) * difference).sum(axis=-1) / 2
    return result if result.dtype == object else np.maximum(result, 0.0)


def chosen_from(recipe: Recipe, distances: Distances) -> list[int]:
    """The workers whose vectors are averaged, from the distances after all mixing."""
    match recipe.choice:
        case Subset(size, "diameter"):
            flat = ranks(distances.reshape(-1)).reshape(distances.shape)
            return tightest_subset(flat, len(distances) - size)
        case Subset(size, _):
            return flattest(distances, size)
        case Rounds(rounds) as choice:
            pool = np.arange(len(distances))
            kept: list[int] = []
            for each in rounds:
                taken = pool[_taken(each, distances, pool)]
                kept += taken.tolist() if each.keep else []
                pool = np.setdiff1d(pool, taken)
            return sorted(kept) if choice.keeps else list(pool.tolist())
    raise AssertionError("a coordinate-wise recipe selects no workers")


def _taken(each: Round, distances: Distances, pool: NDArray[Any]) -> NDArray[Any]:
    """Places in the pool, of the workers that leave it."""
    match each.score:
        case NearestSum(count):
            inside = np.sort(distances[np.ix_(pool, pool)], axis=-1)
            scores = inside[:, : count + 1].sum(axis=-1)
        case MeanDistance():
            scores = distances[np.ix_(pool, pool)].sum(axis=-1)
        case PivotDistance(pivot):
            scores = distances[pool, pivot]
    if each.greatest:
        place = len(pool) - 1 - ranks(scores)
        return np.argsort(place, kind="stable")[: each.count]
    return np.asarray(order(scores))[: each.count]


def flattest(distances: Distances, size: int) -> list[int]:
    """The subset of a size with the least sum of pairwise squared distances, the lexicographically first of equals.

    Depth first over the vectors in order, each taken or left out. A partial subset P is given up if its own pairs,
    plus for the missing k the k least sums to P, plus the least that pairs among those can have, are no better than
    the best so far.
    """
    n = len(distances)
    exact = distances.dtype == object
    table = [list(row) for row in distances.tolist()]
    margin = Fraction(0) if exact else MARGIN
    best_value, best = _start(distances, size)
    first = [False]
    steps = 0

    def search(index: int, chosen: list[int], value: Any, sums: list[Any]) -> None:
        nonlocal best_value, best, steps
        steps += 1
        if steps > MOST_STEPS:
            raise InputError(f"the subset of {size} of {n} vectors with the least variance was not found in time")
        missing = size - len(chosen)
        if missing == 0:
            if value < best_value * (1 - margin) or (not first[0] and value <= best_value * (1 + margin)):
                best_value, best = min(value, best_value), list(chosen)
                first[0] = True
            return
        rest = range(index, n)
        if len(rest) < missing:
            return
        bound = value + sum(sorted(sums[i] for i in rest)[:missing])
        if missing > 1:
            nearby = sorted(sum(sorted(table[i][j] for j in rest if j != i)[: missing - 1]) for i in rest)
            bound += sum(nearby[:missing]) / 2
        if bound > best_value * (1 + margin) or (first[0] and bound >= best_value * (1 - margin)):
            return
        row = table[index]
        search(index + 1, [*chosen, index], value + sums[index], [s + row[j] for j, s in enumerate(sums)])
        search(index + 1, chosen, value, sums)

    search(0, [], Fraction(0) if exact else 0.0, [Fraction(0) if exact else 0.0] * n)
    return best


def _start(distances: Distances, size: int) -> tuple[Any, list[int]]:
    """A good subset: from every vector's nearest, improved by exchanges."""
    n = len(distances)
    found: list[tuple[Any, list[int]]] = []
    for i in range(n):
        members = set(np.argsort(distances[i], kind="stable")[:size].tolist())
        while True:
            inside = sorted(members)
            sums = distances[:, inside].sum(axis=1)
            outside = [j for j in range(n) if j not in members]
            if not outside:
                break
            worst = max(inside, key=lambda k: sums[k])
            nearest = min(outside, key=lambda j: sums[j] - distances[j, worst])
            if not sums[nearest] - distances[nearest, worst] < sums[worst] * (1 - MARGIN):
                break
            members = members - {worst} | {nearest}
        found.append((distances[np.ix_(inside, inside)].sum() / 2, inside))
    return min(found, key=lambda each: each[0])
