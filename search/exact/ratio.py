"""The ratio of an input under a recipe, in floats: how the finder judges itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from kappaguard.rules.recipe.recipe import PivotDistance, Recipe, Rounds
from kappaguard.rules.recipe.select import weights
from kappaguard.search.exact.space import Floats

FEW = 100
NOTHING = 1e-13
"""A variance that is smaller, relative to the squared size of the input, is zero as far as floats can tell."""


def ratio_of(recipe: Recipe, f: int) -> Callable[[Floats], float]:
    """The ratio of inputs of shape (n, d) whose first n - f vectors are honest; infinite without variance."""
    m = recipe.n - f
    # where scores tie by nature the order of the workers decides, and the adversary may come first
    orders = [np.arange(recipe.n)]
    if recipe.trusted is None and f and recipe.n <= FEW:
        orders.append(np.roll(orders[0], f))

    def outputs(x: Floats) -> Iterator[Floats]:
        for order in orders:
            moved = x[order]
            yield weights(recipe, cdist(moved, moved, "sqeuclidean")) @ moved

    def ratio(x: Floats) -> float:
        size = float(np.abs(x).max(initial=0.0))
        if not 0 < size < math.inf:
            return 0.0
        x = x / size
        variance = float(((x[:m] - x[:m].mean(axis=0)) ** 2).sum()) / m
        if variance < NOTHING:
            x = without_spread(x, m)
            variance = 0.0
        mean = x[:m].mean(axis=0)
        error = max(float(((output - mean) ** 2).sum()) for output in outputs(x))
        if variance == 0.0:
            return math.inf if error > 1e-8 else 0.0
        return error / variance

    return ratio


def pivot_first(recipe: Recipe) -> Recipe:
    """The recipe with its pivot, who is any honest worker for the programs, as the first one."""
    if not isinstance(recipe.choice, Rounds):
        return recipe
    rounds = tuple(
        replace(each, score=PivotDistance(0)) if isinstance(each.score, PivotDistance) else each
        for each in recipe.choice.rounds
    )
    return replace(recipe, choice=Rounds(rounds))


def without_spread(x: Floats, m: int) -> Floats:
    """The input with all honest vectors at their mean."""
    result = x.copy()
    result[:m] = result[:m].mean(axis=0)
    return result
