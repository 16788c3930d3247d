"""Recipes do what the rules do, ties included: the literal evaluation against every fast path."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import RULES, parse, written
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.recipe import (
    MeanDistance,
    NearestSum,
    OrderStatistics,
    PivotDistance,
    Recipe,
    Round,
    Rounds,
    Subset,
)
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.text import describe, from_json, to_json

SPECS = [
    "krum",
    "krum(neighbours=2)",
    "krum(neighbours='n-f-2')",
    "multikrum",
    "multikrum(select=2)",
    "mda",
    "mva",
    "faba",
    "nna",
    "nna(pivot=3)",
    "cwtm",
    "cwmed",
    "meamed",
    "phocas",
    "winsorised",
    "nnm+krum",
    "nnm+multikrum(select=3)",
    "nnm+mva",
    "nnm+cwtm",
    "nnm+nnm+krum",
]


def fractions(x):
    result = np.empty(x.shape, dtype=object)
    result[...] = [[Fraction(int(value)) for value in row] for row in x]
    return result


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("n", "f"), [(5, 1), (7, 2), (6, 2)])
def test_small_integers_with_ties(spec, n, f):
    rule = parse(spec, f=f)
    recipe = rule.recipe(n)
    generator = np.random.default_rng([n, f])
    for trial in range(25):
        x = generator.integers(-2, 3, (n, 1 + trial % 3))
        expected = evaluate(recipe, fractions(x))
        assert list(rule(fractions(x))) == list(expected)
        assert list(RecipeRule(recipe)(fractions(x))) == list(expected)
        floats = expected.astype(float)
        assert rule(x.astype(float)) == pytest.approx(floats, abs=1e-12)
        assert RecipeRule(recipe)(x.astype(float)) == pytest.approx(floats, abs=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_batches_and_torch(spec):
    torch = pytest.importorskip("torch")
    n, f = 7, 2
    rule = parse(spec, f=f)
    x = np.random.default_rng(0).standard_normal((4, n, 3))
    expected = np.stack([evaluate(rule.recipe(n), each) for each in x])
    assert RecipeRule(rule.recipe(n))(x) == pytest.approx(expected, abs=1e-12)
    assert rule(torch.from_numpy(x)).numpy() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", [spec for spec in SPECS if not parse(spec, f=2).recipe(7).coordinatewise])
def test_weights_from_distances(spec):
    rule = parse(spec, f=2)
    x = np.random.default_rng(1).standard_normal((7, 4))
    distances = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    weights = rule.weights(distances)
    assert weights.sum() == pytest.approx(1)
    assert weights @ x == pytest.approx(rule(x), abs=1e-12)
    with pytest.raises(InputError, match="no weights"):
        parse("cwtm", f=2).weights(distances)


def test_the_least_variance_by_brute_force():
    from itertools import combinations

    generator = np.random.default_rng(2)
    for n, f in ((6, 2), (9, 3), (10, 4)):
        for _ in range(20):
            x = generator.integers(0, 4, (n, 2)).astype(float)
            sets = list(combinations(range(n), n - f))
            best = min(sets, key=lambda members: (round(float(x[list(members)].var(axis=0).sum()), 9), members))
            assert parse("mva", f=f)(x) == pytest.approx(x[list(best)].mean(axis=0), abs=1e-12)


def test_bulyan_by_its_definition():
    n, f = 11, 2
    generator = np.random.default_rng(3)
    for _ in range(10):
        x = generator.standard_normal((n, 3))
        left, chosen = list(range(n)), []
        while len(chosen) < n - 2 * f:
            near = max(1, len(left) - f - 2)
            scores = [np.sort([((x[i] - x[j]) ** 2).sum() for j in left if j != i])[:near].sum() for i in left]
            chosen.append(left.pop(int(np.argmin(scores))))
        points = x[sorted(chosen)]
        around = np.abs(points - np.median(points, axis=0)).argsort(axis=0)[: n - 4 * f]
        expected = np.take_along_axis(points, around, axis=0).mean(axis=0)
        assert parse("bulyan", f=f)(x) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_json_and_text(spec):
    recipe = parse(spec, f=2).recipe(7)
    assert from_json(to_json(recipe)) == recipe
    assert all(line and line == line.strip() for line in describe(recipe))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Recipe(0, Subset(1, "variance")),
        lambda: Recipe(5, Subset(6, "variance")),
        lambda: Recipe(5, Subset(3, "area")),
        lambda: Recipe(5, Rounds(())),
        lambda: Recipe(5, Rounds((Round(NearestSum(5), 1),))),
        lambda: Recipe(5, Rounds((Round(NearestSum(2), 6),))),
        lambda: Recipe(5, Rounds((Round(MeanDistance(), 5, keep=False),))),
        lambda: Recipe(5, Rounds((Round(PivotDistance(5), 1),))),
        lambda: Recipe(3, OrderStatistics((Fraction(1), Fraction(1), Fraction(0)))),
        lambda: Recipe(3, OrderStatistics((Fraction(1),))),
        lambda: Recipe(3, Subset(2, "variance"), mixing=(4,)),
        lambda: Recipe(3, Subset(2, "variance"), trusted=3),
    ],
)
def test_impossible_recipes(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"schema": "kappaguard-recipe/1", "n": 5}',
        '{"schema": "kappaguard-recipe/1", "n": 5, "subset": {"size": 3}}',
        '{"schema": "kappaguard-recipe/1", "n": 5, "rounds": [{"keep": 1, "least": {"near": 2}}]}',
        '{"schema": "kappaguard-recipe/1", "n": 5, "rounds": [{"keep": "1", "least": "mean"}]}',
        '{"schema": "kappaguard-recipe/1", "n": 5, "rounds": [], "order": []}',
        '{"schema": "kappaguard-recipe/2", "n": 5, "subset": {"size": 3, "least": "variance"}}',
    ],
)
def test_bad_json(text):
    with pytest.raises(InputError):
        from_json(text)


def test_every_selection_rule_has_a_recipe():
    without = {name for name, rule in RULES.items() if _built(rule).recipe(11) is None}
    no_selection = {"average", "gm", "centered_clipping", "monna", "smea", "caf", "bulyan"}
    assert without == no_selection | {"medoid", "cge", "median_clipping", "dnc", "filterl2", "chebyshev"}


def _built(rule):
    from dataclasses import fields

    return rule(**({"f": 2} if "f" in {field.name for field in fields(rule)} else {}))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "mine.json"
    damaged.write_text('{"schema": "kappaguard-recipe/1", "n": 9')
    with pytest.raises(InputError, match=r"mine\.json is no recipe: not JSON"):
        written(str(damaged))
