"""The literal evaluation of a recipe, sentence by sentence, on floats or exact fractions: the oracle of fast paths."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.recipe.recipe import (
    Fork,
    MeanDistance,
    NearCentre,
    NearestSum,
    NearVector,
    Nowhere,
    OrderStatistics,
    Pieces,
    PivotDistance,
    Recipe,
    Round,
    Rounds,
    Subset,
)

Vectors = NDArray[Any]


def evaluate(recipe: Recipe, x: Vectors) -> Vectors:
    """The output of a recipe on x of shape (n, d)."""
    for count in recipe.mixing:
        x = np.array([_mean([x[j] for j in nearest(x, i, range(len(x)), count)]) for i in range(len(x))])
    match recipe.choice:
        case OrderStatistics(weights):
            return np.array([_combination(sorted(column), weights) for column in x.T])
        case NearCentre(weights, count):
            return np.array([_near(sorted(column), weights, count) for column in x.T])
        case Pieces(nodes):
            return np.array([_piece(sorted(column), nodes) for column in x.T])
    return _mean([x[i] for i in chosen(recipe, x)])


def chosen(recipe: Recipe, x: Vectors) -> list[int]:
    """The workers whose (mixed) vectors are averaged."""
    pool = list(range(len(x)))
    match recipe.choice:
        case Subset(size, measure):
            return list(min(combinations(pool, size), key=lambda members: _measure(x, members, measure)))
        case NearVector(weights, count):
            centre = np.array([_combination(sorted(column), weights) for column in x.T])
            return sorted(sorted(pool, key=lambda i: (_square(x[i] - centre), i))[:count])
        case Rounds(rounds) as choice:
            kept: list[int] = []
            for each in rounds:
                taken = take(each, x, pool)
                kept += taken if each.keep else []
                pool = [i for i in pool if i not in taken]
            return sorted(kept if choice.keeps else pool)
    raise AssertionError("a coordinate-wise recipe chooses no workers")


def take(each: Round, x: Vectors, pool: list[int]) -> list[int]:
    """The workers that leave the pool in a round."""
    scores = {i: _score(each, x, i, pool) for i in pool}
    sign = -1 if each.greatest else 1
    return sorted(pool, key=lambda i: (sign * scores[i], i))[: each.count]


def scores_of(each: Round, x: Vectors, pool: list[int]) -> list[Any]:
    """The scores of the pool's workers in a round."""
    return [_score(each, x, i, pool) for i in pool]


def nearest(x: Vectors, i: int, pool: Any, count: int) -> list[int]:
    """The ``count`` workers of the pool nearest to x_i, itself included where it is in the pool."""
    return sorted(pool, key=lambda j: (_square(x[i] - x[j]), j))[:count]


def _score(each: Round, x: Vectors, i: int, pool: list[int]) -> Any:
    match each.score:
        case NearestSum(count):
            return sum(sorted(_square(x[i] - x[j]) for j in pool if j != i)[:count])
        case MeanDistance():
            return _square(x[i] - _mean([x[j] for j in pool]))
        case PivotDistance(pivot):
            return _square(x[i] - x[pivot])


def _measure(x: Vectors, members: Iterable[int], measure: str) -> Any:
    pairs = [_square(x[i] - x[j]) for i, j in combinations(members, 2)]
    return max(pairs, default=0) if measure == "diameter" else sum(pairs)


def _square(vector: Vectors) -> Any:
    return (vector * vector).sum()


def _mean(vectors: list[Vectors]) -> Vectors:
    total: Vectors = sum(vectors[1:], start=vectors[0])
    return total / len(vectors)


def _combination(values: list[Any], weights: Any) -> Any:
    exact = not isinstance(values[0], float)
    return sum(value * (weight if exact else float(weight)) for value, weight in zip(values, weights, strict=True))


def _piece(values: list[Any], nodes: tuple[Fork | OrderStatistics | Nowhere, ...]) -> Any:
    node = nodes[0]
    while isinstance(node, Fork):
        value = _combination(values, node.form)
        node = nodes[node.holds if value > 0 or (value == 0 and not node.strict) else node.fails]
    if isinstance(node, Nowhere):
        raise AssertionError("an input went where no input goes")
    return _combination(values, node.weights)


def _near(values: list[Any], weights: Any, count: int) -> Any:
    centre = _combination(values, weights)
    return sum(sorted(values, key=lambda value: (abs(value - centre), value))[:count]) / count
