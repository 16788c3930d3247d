"""Coordinate-wise recipes: projections and bounds against brute force on a grid."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kappaguard.rules.names import parse
from kappaguard.rules.ratio import ratio
from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.search.exact.coordinates import applies, certified_cells, projected, worst_inputs


@given(st.lists(st.integers(-5, 5).map(Fraction), min_size=1, max_size=7))
def test_the_projection_is_the_nearest_non_increasing_sequence(weights):
    """By its own characterisation: non-increasing, orthogonal to what is left, and no monotone direction gains."""
    runs = projected(weights)
    values = [value for count, value in runs for _ in range(count)]
    assert len(values) == len(weights)
    assert values == sorted(values, reverse=True)
    assert len(list(groupby(values))) == len(runs)
    rest = [weight - value for weight, value in zip(weights, values, strict=True)]
    assert sum(a * b for a, b in zip(rest, values, strict=True)) == 0
    for count in range(1, len(weights) + 1):
        # the extreme non-increasing directions are ones followed by zeros; the last one goes both ways
        step = sum(rest[:count])
        assert step <= 0
    assert sum(rest) == 0


CASES = [
    ("cwmed", 5, 1),
    ("cwmed", 5, 2),
    ("cwmed", 6, 2),
    ("cwtm", 5, 1),
    ("cwtm", 7, 2),
    ("meamed", 5, 1),
    ("phocas", 5, 1),
]


@pytest.mark.parametrize(("name", "n", "f"), CASES)
def test_no_input_on_a_grid_is_worse_than_the_bound(name, n, f):
    """All honest values in -2..2 and all Byzantine ones in -6..6."""
    rule = parse(name, f)
    bound, _ = certified_cells(rule.recipe(n), f)
    inputs = [
        [*honest, *byzantine]
        for honest in combinations_with_replacement(range(-2, 3), n - f)
        for byzantine in combinations_with_replacement(range(-6, 7), f)
        if honest[0] != honest[-1]
    ]
    x = np.array(inputs, dtype=float)[..., None]
    largest = float(np.max(ratio(rule(x), x, list(range(n - f)))))
    assert largest <= float(bound) * (1 + 1e-9)


@pytest.mark.parametrize(("name", "n", "f"), CASES)
def test_the_worst_inputs_attain_the_bound(name, n, f):
    rule = parse(name, f)
    recipe = rule.recipe(n)
    assert applies(recipe, f)
    bound, written = certified_cells(recipe, f)
    assert written
    reached = []
    for rows in worst_inputs(recipe, f):
        x = np.empty((n, 1), dtype=object)
        x[:, 0] = [row[0] for row in rows]
        reached.append(ratio(rule(x), x, list(range(n - f))))
    assert float(max(reached)) == pytest.approx(float(bound), rel=1e-6)
    assert max(reached) <= bound


def test_weight_on_the_outermost_values_is_not_for_these_cells():
    assert not applies(parse("krum", 1).recipe(5), 1)
    assert not applies(parse("cwtm", 0).recipe(5), 1)
    assert not applies(parse("cwtm", 1).recipe(7), 2)


@pytest.mark.parametrize("turned", [False, True])
def test_weights_that_are_not_symmetric_have_the_bound_of_the_worse_side(turned):
    """Against the worst of a grid for either orientation: both directions count."""
    weights = tuple(map(Fraction, ("0", "1/4", "0", "3/4", "0")))
    recipe = Recipe(5, OrderStatistics(weights[::-1] if turned else weights))
    bound, _ = certified_cells(recipe, 1)
    largest = Fraction(0)
    for honest in combinations_with_replacement(range(6), 4):
        if honest[0] == honest[-1]:
            continue
        mean = Fraction(sum(honest), 4)
        variance = sum((value - mean) ** 2 for value in honest) / 4
        for byzantine in (-9, *range(6), 9):
            output = sum(
                w * value for w, value in zip(recipe.choice.weights, sorted([*honest, byzantine]), strict=True)
            )
            largest = max(largest, (output - mean) ** 2 / variance)
    assert Fraction(9, 10) * bound <= largest <= bound
