"""Tracing: code becomes the recipe that it is, what is not followed is refused, and no trace is wrong."""

from __future__ import annotations

import importlib.util
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.naming import builtin
from kappaguard.rules.recipe.recipe import NearVector, Pieces, Recipe
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.text import from_json, to_json
from kappaguard.rules.recipe.trace.code import TracedCode, trace
from kappaguard.rules.recipe.trace.expression import Expression, Symbols, of_key
from kappaguard.rules.recipe.trace.run import outputs

SPELLINGS = Path(__file__).with_name("spellings.py")
specification = importlib.util.spec_from_file_location("spellings_of_rules", SPELLINGS)
assert specification is not None and specification.loader is not None  # noqa: PT018
spellings = importlib.util.module_from_spec(specification)
sys.modules["spellings_of_rules"] = spellings
specification.loader.exec_module(spellings)

SIZES = [(9, 2), (11, 1), (11, 4)]
LARGE = (17, 4)
SLOW = (spellings.mda_loop, spellings.mva_loop)


def traced(rule: Any, n: int, f: int) -> TracedCode:
    return trace(resolve(rule, f, n), n)


@pytest.mark.parametrize(("n", "f"), [*SIZES, LARGE])
@pytest.mark.parametrize("rule", [*spellings.SELECTIONS, *spellings.COLUMNS], ids=lambda rule: rule.__name__)
def test_a_spelling_is_the_rule_that_it_spells(rule: Any, n: int, f: int) -> None:
    if rule in SLOW and (n, f) != SIZES[0]:
        pytest.skip("thousands of subsets in Python: a size is enough")
    name = (spellings.SELECTIONS | spellings.COLUMNS)[rule].format(flower=n - f - 2)
    found = traced(rule, n, f)
    assert found.recipe == parse(name, f).recipe(n)
    assert found.dimension is None


@pytest.mark.parametrize(("n", "f"), [*SIZES, LARGE, (10, 3)])
@pytest.mark.parametrize("rule", spellings.CENTRES, ids=lambda rule: rule.__name__)
def test_vectors_near_a_centre_by_coordinates(rule: Any, n: int, f: int) -> None:
    found = traced(rule, n, f)
    middle, count = spellings.CENTRES[rule](n, f)
    assert found.dimension is None
    assert found.recipe == Recipe(n, NearVector(middle, count))
    assert from_json(to_json(found.recipe)) == found.recipe


def test_vectors_near_a_centre_on_all_small_inputs() -> None:
    """The recipe, its fast path and naive code, which breaks ties by the order of the workers as the recipe does."""

    def naive(x: Any) -> Any:
        middle = np.median(x, axis=0)
        squares = ((x - middle) ** 2).sum(axis=1)
        return x[np.argsort(squares, kind="stable")[:3]].mean(axis=0)

    recipe = traced(spellings.centre_of_half, 5, 1).recipe
    quick = RecipeRule(recipe)
    for values in product(range(3), repeat=5):
        x = np.array([values, values[::-1]], dtype=float).T
        exact = np.array([[Fraction(int(value)) for value in row] for row in x], dtype=object)
        ours = evaluate(recipe, exact)
        assert quick(exact).tolist() == ours.tolist()
        assert quick(x).tolist() == pytest.approx([float(value) for value in ours], abs=1e-12)
        assert naive(x).tolist() == pytest.approx([float(value) for value in ours], abs=1e-12)


def test_a_mask_takes_all_that_are_equal() -> None:
    """The trimmed mean by masks is another function than the trimmed mean: on ties it takes more than n - 2f values."""
    recipe = traced(spellings.cwtm_masks, 5, 1).recipe
    assert isinstance(recipe.choice, Pieces)
    x = np.array([[Fraction(value)] for value in (0, 0, 0, 1, 5)], dtype=object)
    assert evaluate(recipe, x)[0] == Fraction(1, 4)
    assert evaluate(parse("cwtm", 1).recipe(5), x)[0] == Fraction(1, 3)


def test_pieces_are_the_code_on_all_small_inputs() -> None:
    recipe = traced(spellings.cwtm_masks, 5, 1).recipe
    for values in product(range(3), repeat=5):
        x = np.array(values, dtype=float)[:, None]
        ours = evaluate(recipe, np.array([[Fraction(value)] for value in values], dtype=object))
        assert float(ours[0]) == pytest.approx(spellings.cwtm_masks(x, 1)[0], abs=1e-12)
    assert from_json(to_json(recipe)) == recipe


def test_code_is_left_as_it_was() -> None:
    before = spellings.mva_loop.__code__
    traced(spellings.mva_loop, 5, 1)
    assert spellings.mva_loop.__code__ is before
    assert not hasattr(__builtins__, "__kappaguard_trace__")
    x = np.random.default_rng(0).standard_normal((5, 3))
    assert np.allclose(spellings.mva_loop(x, 1), parse("mva", 1)(x))


def value(symbols: Symbols, expression: Any, x: Any) -> Any:
    """An expression at an input, naively; for something at a rank, the set of what may stand there on a tie."""
    if not isinstance(expression, Expression):
        return expression
    total = Fraction(0)
    for monomial, coefficient in expression.coefficients().items():
        part = coefficient
        for name in monomial:
            part *= _atom(symbols, symbols.atoms[name], x)
        total += part
    return total


def _atom(symbols: Symbols, description: Any, x: Any) -> Any:
    match description:
        case ("entry", i, k):
            return Fraction(int(x[i, k]))
        case ("least", members, rank):
            return sorted(value(symbols, of_key(symbols, key), x) for key in members)[rank]
        case ("alias", key):
            return value(symbols, of_key(symbols, key), x)
        case ("holds", (kind, left, right)):
            a, b = (value(symbols, of_key(symbols, key), x) for key in (left, right))
            return Fraction(int({"<": a < b, "<=": a <= b, "==": a == b}[kind]))
        case ("root", key):
            square = value(symbols, of_key(symbols, key), x)
            root = Fraction(round(float(square) ** 0.5))
            assert root * root == square
            return root
        case ("at", members, rank, beside):
            return value(symbols, of_key(symbols, beside[_order(symbols, members, x)[rank]]), x)
        case ("rest", members, rank, place, beside):
            left = sorted(set(range(len(members))) - {_order(symbols, members, x)[rank]})
            return value(symbols, of_key(symbols, beside[left[place]]), x)
    raise AssertionError(description)


def _order(symbols: Symbols, members: Any, x: Any) -> list[int]:
    return sorted(range(len(members)), key=lambda place: value(symbols, of_key(symbols, members[place]), x))


SUMMARISED = {
    "sort": lambda x: np.sort(x, axis=0)[1],
    "sort descending": lambda x: -np.sort(-x, axis=0)[1],
    "partition": lambda x: np.partition(x, 2, axis=0)[2],
    "min": lambda x: x.min(axis=0) + 2 * np.max(x, axis=0),
    "median": lambda x: np.median(x, axis=0),
    "quantile": lambda x: np.quantile(x, 0.25, axis=0),
    "percentile": lambda x: np.percentile(x, 75, axis=0),
    "where": lambda x: np.where(x[0] < x[1], x[2], x[3]),
    "where at most": lambda x: np.where(x[0] <= x[1], x[2], x[3]),
    "clip": lambda x: np.clip(x[0], x[1], x[1] + 1),
    "maximum": lambda x: np.maximum(x[0], x[1]) - np.minimum(x[2], x[3]),
    "abs": lambda x: np.abs(x[0] - x[1]),
    "count": lambda x: ((x < x[0]) * 1.0).sum(axis=0),
    "equal": lambda x: ((x == x[0]) * 1.0).sum(axis=0),
    "variance": lambda x: x.var(axis=0),
    "norm": lambda x: np.linalg.norm(x, axis=0) ** 2,
    "cumsum": lambda x: np.cumsum(x, axis=0)[2],
    "average": lambda x: np.average(x, axis=0, weights=[1, 2, 3, 4]),
    "nanmedian": lambda x: np.nanmedian(x, axis=0) + np.nanmax(x, axis=0),
    "trim_mean": lambda x: stats.trim_mean(x, 0.25, axis=0),
    "greatest of greatest": lambda x: (
        np.maximum(np.maximum(x[0], x[1]), x[2]) - np.maximum(x[3], np.maximum(x[0], x[1]))
    ),
    "without the greatest": lambda x: np.delete(x, np.argmax(x), axis=0).sum(axis=0),
    "without both ends": lambda x: without_least(np.delete(x, x.argmax(), 0)).mean(0),
    "by ranks": lambda x: (x * ((x.argsort(0).argsort(0) >= 1) & (x.argsort(0).argsort(0) != 2))).sum(0),
    "by ordinal ranks": lambda x: (x * (stats.rankdata(x, "ordinal", axis=0) > 2)).sum(0),
    "put along an axis": lambda x: (x * put(np.argsort(x, axis=0)[1:3], np.zeros_like(x))).sum(0),
    "lexsort": lambda x: x[np.lexsort((x[:, 0],))][1],
}


def without_least(x: Any) -> Any:
    return np.delete(x, x.argmin(), 0)


def put(places: Any, array: Any) -> Any:
    np.put_along_axis(array, places, 2.0, axis=0)
    return array


@pytest.mark.parametrize("name", SUMMARISED)
def test_a_summary_is_the_function_on_all_small_inputs(name: str) -> None:
    function = SUMMARISED[name]
    symbols, (found,) = outputs(function, [function], 4, 1)
    for values in product(range(-1, 3), repeat=4):
        x = np.array(values, dtype=float)[:, None]
        assert float(value(symbols, found, x)) == pytest.approx(float(function(x)[0]), abs=1e-12)


ORDERED = {
    "argsort": lambda x: x[np.argsort(x[:, 0] ** 2 + x[:, 1])][1],
    "argmin": lambda x: x[np.argmin(x[:, 0] + x[:, 1])],
    "argmax": lambda x: x[np.argmax(x[:, 0] * 2 - x[:, 1])],
    "argpartition": lambda x: x[np.argpartition(x[:, 0] * 3 - x[:, 1], 2)][2],
    "sorted": lambda x: sorted(x, key=lambda row: row[0] + 2 * row[1])[3],
    "max": lambda x: max(x, key=lambda row: row[1] - row[0]),
}


@pytest.mark.parametrize("name", ORDERED)
def test_what_stands_at_a_rank_is_one_of_those_that_may(name: str) -> None:
    function = ORDERED[name]
    symbols, found = outputs(function, [function], 4, 2)
    descriptions = [each.single("at") for each in found]
    assert all(description is not None for description in descriptions)
    generator = np.random.default_rng(1)
    for _ in range(2000):
        x = generator.integers(-1, 3, (4, 2)).astype(float)
        output = function(x)
        for k, (_, members, rank, beside) in enumerate(descriptions):  # type: ignore[misc]
            scores = [value(symbols, of_key(symbols, key), x) for key in members]
            level = sorted(scores)[rank]
            allowed = {
                value(symbols, of_key(symbols, key), x)
                for score, key in zip(scores, beside, strict=True)
                if score == level
            }
            assert Fraction(int(output[k])) in allowed


def test_the_name_of_a_recipe() -> None:
    for name in ("krum", "krum(neighbours=5)", "multikrum(select=4)", "nnm+mda", "cwtm", "phocas"):
        recipe = parse(name, 2).recipe(9)
        assert recipe is not None
        found = builtin(recipe, 2)
        assert found is not None
        assert found.recipe(9) == recipe
    swapped = traced(sums_and_scores, 9, 2).recipe
    assert builtin(swapped, 2) is None


def sums_and_scores(x: Any, f: int) -> Any:
    """Half of the vectors by their distance to the mean: no rule of ours."""
    return x[np.argsort(((x - x.mean(0)) ** 2).sum(1))[:5]].mean(0)


PEERS = {
    "byzfl:Krum": "krum",
    "byzfl:MultiKrum": "multikrum",
    "byzfl:MDA": "mda",
    "byzfl:TrMean": "cwtm",
    "byzfl:Median": "cwmed",
    "byzfl:Meamed": "meamed",
    "byzfl:NNM+byzfl:TrMean": "nnm+cwtm",
    "nnm+byzfl:Krum": "nnm+krum",
    "flwr:aggregate_krum": "krum(neighbours='n-f-2')",
    "flwr:aggregate_median": "cwmed",
    "flwr:aggregate_trimmed_avg": "cwtm",
    "flwr.serverapp.strategy:Krum": "krum(neighbours='n-f-2')",
    "flwr.serverapp.strategy:FedMedian": "cwmed",
    "flwr.server.strategy:FedTrimmedAvg": "cwtm",
    "torchjd:TrimmedMean": "cwtm",
}


@pytest.mark.parametrize("spec", PEERS)
def test_a_peers_rule_is_traced_as_it_is(spec: str) -> None:
    peer = spec.removeprefix("nnm+").partition(":")[0].partition(".")[0]
    if importlib.util.find_spec(peer) is None:
        pytest.skip(f"{peer} is not installed")
    assert traced(spec, 11, 2).recipe == parse(PEERS[spec], 2).recipe(11)
