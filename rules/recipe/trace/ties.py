"""Whether an output is that of a recipe whose ties were broken in some other way.

Of a selection of ``count`` vectors by least scores, those with a smaller score than the ``count``-th are in; of those
with the same score as it, any that fill the rest. So the output is explained if ``count`` times it, less the sum of
those that are in, is the sum of so many of the equal ones: a subset sum, found by going through them one after the
other and keeping all sums of all sizes. Inputs with ties have small whole numbers, so that few sums are different.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.recipe.evaluate import scores_of
from kappaguard.rules.recipe.recipe import NearCentre, NearVector, Recipe, Rounds

Floats = NDArray[np.float64]
EQUAL = 1e-9
"""Scores that differ relatively by less are equal: code that divides may round them either way."""
MOST_SUMS = 20_000


def explained_by_ties(recipe: Recipe, output: Floats, x: Floats, room: float) -> bool:
    """Whether some way to break the ties gives this output, to within ``room``; False where it is not known."""
    if recipe.mixing:
        return False
    match recipe.choice:
        case NearCentre(weights, count):
            centre = np.sort(x, axis=0).T @ _floats(weights)
            return all(
                _is_mean_of(np.abs(column - middle), column[:, None], count, output[[k]], room)
                for k, (column, middle) in enumerate(zip(x.T, centre, strict=True))
            )
        case NearVector(weights, count):
            centre = np.sort(x, axis=0).T @ _floats(weights)
            return _is_mean_of(((x - centre) ** 2).sum(axis=1), x, count, output, room)
        case Rounds((each,)):
            scores = np.array(scores_of(each, x, list(range(len(x)))), dtype=np.float64)
            count = each.count if each.keep else len(x) - each.count
            least = each.greatest != each.keep
            return _is_mean_of(scores if least else -scores, x, count, output, room)
    return False


def _floats(weights: tuple[Fraction, ...]) -> Floats:
    return np.array([float(weight) for weight in weights])


def _is_mean_of(scores: Floats, rows: Floats, count: int, mean: Floats, room: float) -> bool:
    """Whether this is the mean of ``count`` rows with the least scores, for some choice among equal ones."""
    last = np.sort(scores)[count - 1]
    equal = np.abs(scores - last) <= EQUAL * (1.0 + np.max(np.abs(scores)))
    sure = (scores < last) & ~equal
    wanted = count * mean - rows[sure].sum(axis=0)
    sums = _sums(rows[equal], count - int(sure.sum()))
    return any(bool(np.max(np.abs(np.array(each) - wanted)) <= count * room) for each in sums)


def _sums(rows: Floats, size: int) -> set[tuple[Any, ...]]:
    """The sums of all subsets of a size; none if there are too many."""
    found: list[set[tuple[Any, ...]]] = [{(0.0,) * rows.shape[1]}, *(set() for _ in range(size))]
    for place, row in enumerate(rows.tolist()):
        for filled in range(min(place + 1, size), max(0, size - len(rows) + place), -1):
            found[filled] |= {tuple(a + b for a, b in zip(each, row, strict=True)) for each in found[filled - 1]}
        if sum(map(len, found)) > MOST_SUMS:
            return set()
    return found[size]
