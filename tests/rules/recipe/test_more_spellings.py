"""More ways to write the same rules, each traced as it is; and refusals that name a line of the code, always."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.trace.code import TracedCode, trace
from kappaguard.rules.recipe.trace.refusal import Untraceable


def traced(rule: Any, n: int, f: int) -> TracedCode:
    return trace(resolve(rule, f, n), n)


def krum_lists(x: Any, f: int) -> Any:
    scores = []
    for i in range(len(x)):
        distances = []
        for j in range(len(x)):
            if i != j:
                distances.append(np.sum((x[i] - x[j]) ** 2))
        distances.sort()
        scores.append(sum(distances[: len(x) - f - 1]))
    return x[int(np.argmin(scores))]


def scores_of_all(x: Any, f: int) -> Any:
    return np.sort(((x[:, None] - x[None]) ** 2).sum(-1), axis=1)[:, : len(x) - f].sum(1)


def krum_least_pair(x: Any, f: int) -> Any:
    _, best = min((score, i) for i, score in enumerate(scores_of_all(x, f)))
    return x[best]


def multikrum_sorted_pairs(x: Any, f: int) -> Any:
    chosen = sorted(zip(scores_of_all(x, f), range(len(x)), strict=True))[: len(x) - f]
    return np.mean([x[i] for _, i in chosen], axis=0)


def multikrum_pairs_in_place(x: Any, f: int) -> Any:
    chosen = list(zip(scores_of_all(x, f), range(len(x)), x, strict=True))
    chosen.sort()
    return sum(row for _, _, row in chosen[: len(x) - f]) / (len(x) - f)


def greatest_first(x: Any, f: int) -> Any:
    found = []
    for column in x.T:
        values = list(column)
        values.sort(reverse=True)
        found.append(sum(values[f : len(x) - f]) / (len(x) - 2 * f))
    return np.array(found)


def krum_cdist(x: torch.Tensor, f: int) -> torch.Tensor:
    return x[(torch.cdist(x, x) ** 2).sort(dim=1).values[:, : len(x) - f].sum(dim=1).argmin()]


def nnm_trimmed(x: torch.Tensor, f: int) -> torch.Tensor:
    mixed = torch.stack([x[near].mean(0) for near in torch.cdist(x, x).argsort(dim=1)[:, : len(x) - f]])
    return mixed.sort(0)[0][f : len(x) - f].mean(0)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (krum_least_pair, "krum"),
        (multikrum_sorted_pairs, "multikrum"),
        (multikrum_pairs_in_place, "multikrum"),
        (krum_lists, "krum"),
        (greatest_first, "cwtm"),
        (krum_cdist, "krum"),
        (nnm_trimmed, "nnm+cwtm"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
@pytest.mark.parametrize(("n", "f"), [(7, 1), (12, 3)])
def test_a_spelling_is_the_rule_that_it_spells(rule: Any, name: str, n: int, f: int) -> None:
    found = traced(rule, n, f)
    assert found.recipe == parse(name, f).recipe(n)
    assert found.dimension is None


def mean_of_means(x: Any, f: int) -> Any:
    near = np.argsort(((x[:, None] - x[None]) ** 2).sum(-1), axis=1)[:, : len(x) - f]
    return x[near].mean(axis=1).mean(axis=0)


def first_of_a_mask(x: Any, f: int) -> Any:
    scores = ((x[:, None] - x[None]) ** 2).sum(-1).sum(1)
    return x[scores == scores.min()][0]


def closest_pair(x: Any, f: int) -> Any:
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    i, j = np.unravel_index(np.argmin(d), d.shape)
    return (x[i] + x[j]) / 2


def pairs_in_order(x: Any, f: int) -> Any:
    return np.median(x[:6].reshape(3, 2, -1).mean(axis=1), axis=0)


def standardised(x: Any, f: int) -> Any:
    z = (x - x.mean(0)) / (x.std(0) + 1e-12)
    return np.where(np.abs(z) < 1.5, x, 0).mean(0)


def within_one(x: Any, f: int) -> Any:
    middle = np.median(x, axis=0)
    return np.where(np.abs(x - middle) <= 1, x, middle).mean(0)


def sum_of_the_middle(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].sum(axis=0)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (mean_of_means, "def mean_of_means(x: Any, f: int) -> Any:"),
        (first_of_a_mask, "return x[scores == scores.min()][0]"),
        (closest_pair, "i, j = np.unravel_index(np.argmin(d), d.shape)"),
        (pairs_in_order, "def pairs_in_order(x: Any, f: int) -> Any:"),
        (within_one, "return np.where(np.abs(x - middle) <= 1, x, middle).mean(0)"),
        (sum_of_the_middle, "def sum_of_the_middle(x: Any, f: int) -> Any:"),
        (standardised, "z = (x - x.mean(0)) / (x.std(0) + 1e-12)"),
    ],
)
def test_every_refusal_names_a_line(rule: Any, line: str) -> None:
    with pytest.raises(Untraceable) as refused:
        traced(rule, 7, 1)
    assert refused.value.place.startswith("test_more_spellings.py:")
    assert refused.value.line == line
    assert "SymbolicArray" not in str(refused.value)
    assert "\n" not in str(refused.value)
