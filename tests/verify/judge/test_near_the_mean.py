"""Rules that trust the vectors near the mean of all have no kappa as soon as two Byzantine vectors may act together."""

from __future__ import annotations

import math

import pytest

from kappaguard.rules.recipe.recipe import MeanDistance, NearestSum, Recipe, Round, Rounds, Score
from kappaguard.verify.judge.exact import exact


@pytest.mark.parametrize(("n", "f"), [(5, 2), (9, 2), (17, 4), (20, 4), (12, 5)])
@pytest.mark.parametrize("score", [MeanDistance(), NearestSum(0)], ids=["mean", "sum"])
@pytest.mark.parametrize("alone", [True, False], ids=["one", "most"])
def test_one_byzantine_vector_near_the_mean_that_others_move(n: int, f: int, score: Score, alone: bool) -> None:
    given = NearestSum(n - 1) if isinstance(score, NearestSum) else score
    recipe = Recipe(n, Rounds((Round(given, 1 if alone else n - f),)))
    found = exact(recipe, n, f)
    assert found.lower == math.inf
    assert found.witness is not None
    assert found.witness.lower == math.inf
