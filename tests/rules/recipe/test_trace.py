"""Tracing: code becomes the recipe that it is, what is not followed is refused, and no trace is wrong."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.adapters.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.naming import builtin
from kappaguard.rules.recipe.recipe import NearCentre, Pieces
from kappaguard.rules.recipe.text import from_json, to_json
from kappaguard.rules.recipe.trace.code import TracedCode, trace
from kappaguard.rules.recipe.trace.expression import Expression, Symbols, of_key
from kappaguard.rules.recipe.trace.refusal import Untraceable
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


def test_the_readme_example_is_followed_on_a_line_only() -> None:
    found = traced(spellings.centre_of_half, 9, 2)
    assert found.dimension == 1
    assert isinstance(found.recipe.choice, NearCentre)
    assert found.recipe.choice.count == 5


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


def sums_of_roots(x: Any, f: int) -> Any:
    d = np.linalg.norm(x[:, None] - x[None], axis=-1)
    return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]


def weights_by_distance(x: Any, f: int) -> Any:
    w = 1 / (1 + np.linalg.norm(x - x.mean(0), axis=1))
    return (w[:, None] * x).sum(0) / w.sum()


def clipped_to_constants(x: Any, f: int) -> Any:
    return np.clip(x, -1, 1).mean(0)


def first_worker(x: Any, f: int) -> Any:
    return x[0]


def sum_of_the_middle(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].sum(axis=0)


def sum_of_the_selected(x: Any, f: int) -> Any:
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    return x[np.argsort(d.sum(1))[:3]].sum(0)


def part_of_a_partition(x: Any, f: int) -> Any:
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    return x[np.argmin(np.partition(d, 5, axis=1)[:, :3].sum(1))]


def iterates(x: Any, f: int) -> Any:
    y = x.mean(0)
    while ((x - y) ** 2).sum() > 1e-3:
        y = y / 2
    return y


def rounds(x: Any, f: int) -> Any:
    return np.round(x, 2).mean(0)


def unlike_the_index_order(x: Any, f: int) -> Any:
    """After a deletion the first row is a worker's, not the one with the least score."""
    return np.delete(x, np.argmax(((x - x.mean(0)) ** 2).sum(1)), axis=0)[0]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (sums_of_roots, "unsquared distances are added here"),
        (weights_by_distance, "divided here by a value that depends on the input"),
        (clipped_to_constants, "compared with a constant"),
        (first_worker, "treats workers differently"),
        (sum_of_the_middle, "add up to 5, not to 1"),
        (sum_of_the_selected, "no selection or coordinate-wise rule"),
        (part_of_a_partition, "leave the order of the others open"),
        (iterates, "until a comparison ends it"),
        (rounds, "values are rounded"),
        (unlike_the_index_order, "no selection or coordinate-wise rule"),
    ],
)
def test_what_is_not_followed_is_refused_in_one_line(rule: Any, words: str) -> None:
    with pytest.raises(Untraceable, match=words) as refused:
        traced(rule, 9, 2)
    assert "\n" not in str(refused.value)


def test_a_refusal_names_the_line() -> None:
    with pytest.raises(Untraceable) as refused:
        traced(sums_of_roots, 9, 2)
    assert refused.value.place.startswith("test_trace.py:")
    assert "np.argmin" in refused.value.line
    assert "square them" in refused.value.hint


class Counting:
    """The trimmed mean on its first call, and the mean on every other."""

    calls = 0

    def __call__(self, x: Any, f: int) -> Any:
        Counting.calls += 1
        return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0) if Counting.calls < 2 else x.mean(0)


def looks_at_the_type(x: Any, f: int) -> Any:
    return np.median(x, axis=0) if type(x) is not np.ndarray else x.mean(0)


def looks_at_the_entries(x: Any, f: int) -> Any:
    return x.mean(0) if isinstance(x[0, 0], float) else np.median(x, axis=0)


def looks_at_the_dimension(x: Any, f: int) -> Any:
    return x.mean(0) if x.shape[1] == 5 else np.median(x, axis=0)


def sees_the_first_coordinates(x: Any, f: int) -> Any:
    seen = x[:, :64]
    d = ((seen[:, None] - seen[None]) ** 2).sum(-1)
    return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]


def averages_later_layers(x: Any, f: int) -> Any:
    y = np.median(x, axis=0)
    y[100:] = x[:, 100:].mean(axis=0)
    return y


def drops_copies(x: Any, f: int) -> Any:
    return np.median(np.array(list({row.tobytes(): row for row in x}.values())), axis=0)


def breaks_ties_two_ways(x: Any, f: int) -> Any:
    n = len(x)
    s = np.sort(((x[:, None] - x[None]) ** 2).sum(-1), axis=1)[:, : n - f].sum(1)
    a = x[np.argsort(s)[: n - f]].mean(0)
    b = x[::-1][np.argsort(s[::-1])[: n - f]].mean(0)
    return a + 50 * (a - b)


def draws_lots(x: Any, f: int) -> Any:
    return np.median(x, axis=0) if np.random.rand() < 0.9 else x.mean(0)


OTHERWISE = [
    Counting,
    looks_at_the_type,
    looks_at_the_entries,
    looks_at_the_dimension,
    sees_the_first_coordinates,
    averages_later_layers,
    drops_copies,
    breaks_ties_two_ways,
    draws_lots,
]


@pytest.mark.parametrize("rule", OTHERWISE)
def test_a_rule_that_behaves_otherwise_on_symbols_is_refused(rule: Any) -> None:
    for n, f in ((6, 1), (7, 2)):
        Counting.calls = 0
        with pytest.raises(Untraceable, match="differs from that of the recipe"):
            traced(rule, n, f)


def changes_in_place_on_a_condition(x: Any, f: int) -> Any:
    n = len(x)
    s = np.sort(x, axis=0)
    y, z = s[f : n - f].mean(axis=0), x.mean(axis=0)
    if ((x - y) ** 2).sum() < 1e4 * ((s[f : n - f] - y) ** 2).sum():
        z += y - z
    return z


def clips_into_its_input(x: Any, f: int) -> Any:
    np.clip(x, -1e4, 1e4, out=x)
    return np.median(x, axis=0)


def has_an_initial_value(x: Any, f: int) -> Any:
    return np.median(x, axis=0) + x.max(0, initial=-1e4) - x.max(0)


def truncates(x: Any, f: int) -> Any:
    return np.median(x.astype(int), axis=0)


def truncates_while_summing(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].sum(axis=0, dtype=int) / (len(x) - 2 * f)


def truncates_one_by_one(x: Any, f: int) -> Any:
    return np.median(np.array([[int(value) for value in row] for row in x]), axis=0)


def goes_on_after_a_refusal(x: Any, f: int) -> Any:
    with contextlib.suppress(Exception):
        x = np.trunc(x)
    return np.median(x, axis=0)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (changes_in_place_on_a_condition, "changed in place under a condition"),
        (clips_into_its_input, "writes into another array"),
        (has_an_initial_value, "initial=-10000"),
        (truncates, "converted to"),
        (truncates_while_summing, "converted to"),
        (truncates_one_by_one, "turned into a whole number"),
        (goes_on_after_a_refusal, "np.trunc"),
    ],
)
def test_what_would_be_overlooked_is_refused(rule: Any, words: str) -> None:
    with pytest.raises(Untraceable, match=words):
        traced(rule, 7, 2)


def test_index_arrays_beside_each_other_are_paired() -> None:
    def columns(x: Any, f: int) -> Any:
        n, d = x.shape
        return x[np.argsort(x, axis=0)[f : n - f], np.arange(d)].mean(0)

    assert traced(columns, 9, 2).recipe == parse("cwtm", 2).recipe(9)


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
    raise AssertionError(description)


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
}


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
