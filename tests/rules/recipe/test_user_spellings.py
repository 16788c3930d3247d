"""What users write is traced as it is; and what looks like it and is another function is not taken for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.trace.code import trace
from kappaguard.rules.recipe.trace.refusal import Untraceable
from tests.rules.recipe.user_spellings import SPELLINGS, scores_of


@pytest.mark.parametrize(
    ("rule", "name"),
    [(rule, name) for name, rules in SPELLINGS.items() for rule in rules],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_spelling_is_the_rule_that_it_spells(rule: Any, name: str) -> None:
    found = trace(resolve(rule, 2, 7), 7)
    assert found.recipe == parse(name, 2).recipe(7)
    assert found.dimension is None


@pytest.mark.parametrize("name", ["Krum", "MultiKrum", "CoordinateWiseMedian", "MeanOfMedians"])
def test_byzpys_rules_are_traced_as_they_are(name: str) -> None:
    ours = {"Krum": "krum", "MultiKrum": "multikrum", "CoordinateWiseMedian": "cwmed", "MeanOfMedians": "meamed"}
    assert trace(resolve(f"byzpy:{name}", 2, 11), 11, brief=True).recipe == parse(ours[name], 2).recipe(11)


def all_that_are_equal(x: Any, f: int) -> Any:
    scores = scores_of(x, f)
    return x[scores <= np.sort(scores)[len(x) - f - 1]].mean(axis=0)


def ranks_of_equal_values(x: Any, f: int) -> Any:
    scores = scores_of(x, f)
    return x[(scores[:, None] > scores[None]).sum(1) < len(x) - f].mean(axis=0)


def part_of_a_mask(x: Any, f: int) -> Any:
    return x[np.flatnonzero(scores_of(x, f).argsort().argsort() < len(x) - f)[:2]].mean(axis=0)


def in_order_of_ranks(x: Any, f: int) -> Any:
    return x[scores_of(x, f).argsort().argsort()[: len(x) - f]].mean(axis=0)


def joined_with_an_overlap(x: Any, f: int) -> Any:
    worst = np.argmax(scores_of(x, f))
    return np.concatenate([x[:worst], x[worst:]]).mean(axis=0)


def all_before_a_place(x: Any, f: int) -> Any:
    return x[: np.argmax(scores_of(x, f))].mean(axis=0)


def single_number_in_place(x: torch.Tensor, f: int) -> Any:
    total = x.sum(0) * 0
    total[0].add_(1)
    return total


@pytest.mark.parametrize(
    "rule",
    [
        all_that_are_equal,
        ranks_of_equal_values,
        part_of_a_mask,
        in_order_of_ranks,
        joined_with_an_overlap,
        all_before_a_place,
        single_number_in_place,
    ],
)
def test_what_depends_on_more_than_the_order_is_refused(rule: Any) -> None:
    with pytest.raises(Untraceable) as refused:
        trace(resolve(rule, 2, 7), 7)
    assert refused.value.place.startswith("test_user_spellings.py:")
