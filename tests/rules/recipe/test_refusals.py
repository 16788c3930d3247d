"""What tracing refuses: what it does not follow, in one line, and what would be a wrong trace."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.trace.code import TracedCode, trace
from kappaguard.rules.recipe.trace.refusal import Untraceable


def traced(rule: Any, n: int, f: int) -> TracedCode:
    return trace(resolve(rule, f, n), n)


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
    assert refused.value.place.startswith("test_refusals.py:")
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


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 17, 1030])
def test_a_dimension_is_seen_however_long_a_call_takes(d: int) -> None:
    def looks(x: Any, f: int) -> Any:
        return x.mean(0) if x.shape[1] == d else np.median(x, axis=0)

    # in dimension 2 symbols go through it, so that the recipe is the mean's, and the numbers of other dimensions tell
    with pytest.raises(Untraceable, match="differs from that of the recipe"):
        trace(resolve(looks, 1, 6), 6, brief=True)


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
