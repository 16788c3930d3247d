"""Ties that code breaks otherwise than the recipe: explained exactly if a subset of the equal ones fits."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.recipe.recipe import (
    Choice,
    MeanDistance,
    NearCentre,
    NearestSum,
    NearVector,
    Recipe,
    Round,
    Rounds,
)
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.trace.code import trace
from kappaguard.rules.recipe.trace.ties import explained_by_ties
from kappaguard.rules.recipe.weights import median

ROOM = 1e-9


def near_median(x: Any, f: int) -> Any:
    scores = ((x - np.median(x, axis=0)) ** 2).sum(1)
    return x[np.argsort(scores)[: len(x) - f]].mean(0)


def meamed(x: Any, f: int) -> Any:
    places = np.argsort(np.abs(x - np.median(x, axis=0)), axis=0)[: len(x) - f]
    return np.take_along_axis(x, places, axis=0).mean(0)


@pytest.mark.parametrize(("n", "f"), [(24, 5), (30, 7)])
@pytest.mark.parametrize("rule", [near_median, meamed], ids=lambda rule: rule.__name__)
def test_many_vectors_with_many_ties_are_traced(rule: Any, n: int, f: int) -> None:
    # beyond 16 values argsort is not stable
    assert trace(resolve(rule, f, n), n).comparison.ties > 5


def outcomes(scores: Any, x: Any, count: int) -> set[tuple[float, ...]]:
    """All means of subsets that nobody outside is better than, by going through all subsets."""
    found = set()
    for inside in combinations(range(len(x)), count):
        outside = set(range(len(x))) - set(inside)
        if all(scores[i] <= scores[j] for i in inside for j in outside):
            found.add(tuple(x[list(inside)].mean(axis=0).round(9)))
    return found


def scores_for(choice: Choice, x: Any) -> Any:
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    match choice:
        case NearVector():
            return ((x - np.median(x, axis=0)) ** 2).sum(1)
        case Rounds((Round(NearestSum(count)),)):
            return np.sort(squares, axis=1)[:, : count + 1].sum(1)
    return np.array([Fraction(int(s)) for s in ((len(x) * x - x.sum(0)) ** 2).sum(1)])


@pytest.mark.parametrize(
    ("choice", "count"),
    [
        (NearVector(median(6), 4), 4),
        (Rounds((Round(NearestSum(3), 4),)), 4),
        (Rounds((Round(MeanDistance(), 2, greatest=True, keep=False),)), 4),
    ],
)
@pytest.mark.parametrize("d", [1, 2])
def test_explained_is_what_some_choice_among_equal_ones_gives(choice: Choice, count: int, d: int) -> None:
    generator = np.random.default_rng(d)
    told = 0
    for _ in range(60):
        x = generator.integers(0, 3, (6, d)).astype(float)
        possible = outcomes(scores_for(choice, x), x, count)
        for inside in combinations(range(6), count):
            mean = x[list(inside)].mean(axis=0)
            expected = tuple(mean.round(9)) in possible
            assert explained_by_ties(Recipe(6, choice), mean, x, ROOM) == expected
            told += expected
        assert explained_by_ties(Recipe(6, choice), RecipeRule(Recipe(6, choice))(x), x, ROOM)
    assert told > 60


def test_every_coordinate_breaks_its_own_ties() -> None:
    recipe = Recipe(4, NearCentre(median(4), 3))
    x = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    assert explained_by_ties(recipe, np.array([2 / 3, 4 / 3]), x, ROOM)
    assert not explained_by_ties(recipe, np.array([2 / 3, 1.0]), x, ROOM)
