"""Masks and weights that are written at places which an order names, each traced as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.trace.code import trace
from kappaguard.rules.recipe.trace.refusal import Untraceable


def scores_of_all(x: Any, f: int) -> Any:
    return np.sort(((x[:, None] - x[None]) ** 2).sum(-1), axis=1)[:, : len(x) - f].sum(1)


def kept(x: Any, f: int) -> Any:
    mask = np.zeros(len(x), dtype=bool)
    mask[np.argsort(scores_of_all(x, f))[: len(x) - f]] = True
    return x[mask].mean(axis=0)


def not_dropped(x: Any, f: int) -> Any:
    mask = np.ones(len(x), dtype=bool)
    mask[np.argsort(scores_of_all(x, f))[-f:]] = False
    return np.mean(x[mask], axis=0)


def not_marked(x: Any, f: int) -> Any:
    mask = np.full(len(x), False)
    mask[np.argpartition(scores_of_all(x, f), -f)[-f:]] = True
    return x[~mask].sum(0) / (~mask).sum()


def averaged(x: Any, f: int) -> Any:
    mask = np.zeros(len(x), dtype=bool)
    mask[np.argsort(scores_of_all(x, f))[: len(x) - f]] = True
    return np.average(x, axis=0, weights=mask)


def weighed(x: Any, f: int) -> Any:
    weights = np.zeros(len(x))
    weights[np.argpartition(scores_of_all(x, f), len(x) - f - 1)[: len(x) - f]] = 1 / (len(x) - f)
    return weights @ x


def weighed_down(x: Any, f: int) -> Any:
    weights = np.ones(len(x))
    weights[np.argsort(scores_of_all(x, f))[len(x) - f :]] = 0
    weights = weights / weights.sum()
    return (weights[:, None] * x).sum(axis=0)


def one_hot(x: Any, f: int) -> Any:
    weights = np.zeros(len(x))
    weights[np.argmin(scores_of_all(x, f))] = 1.0
    return x.T @ weights


def partitioned_neighbours(x: Any, f: int) -> Any:
    gram = x @ x.T
    d = np.maximum(np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram, 0)
    near = np.argpartition(d, len(x) - f - 1, axis=1)[:, : len(x) - f]
    return x[np.take_along_axis(d, near, axis=1).sum(1).argmin()]


def tensor_mask(x: torch.Tensor, f: int) -> torch.Tensor:
    scores = (torch.cdist(x, x) ** 2).sort(1).values[:, : len(x) - f].sum(1)
    mask = torch.zeros(len(x), dtype=torch.bool)
    mask[scores.argsort()[: len(x) - f]] = True
    return x[mask].mean(0)


def tensor_weights(x: torch.Tensor, f: int) -> torch.Tensor:
    weights = torch.zeros(len(x), dtype=x.dtype)
    weights[(torch.cdist(x, x) ** 2).sort(1).values[:, : len(x) - f].sum(1).argmin()] = 1
    return weights @ x


def tensors_in_order(vectors: list[torch.Tensor], f: int) -> torch.Tensor:
    scores = []
    for one in vectors:
        scores.append(sum(sorted(torch.norm(one - other) ** 2 for other in vectors)[: len(vectors) - f]))
    return vectors[int(torch.argmin(torch.stack(scores)))]


def least_of_tensors(x: torch.Tensor, f: int) -> torch.Tensor:
    best, chosen = None, 0
    for i in range(len(x)):
        score = sum(sorted(((x[i] - x[j]) ** 2).sum() for j in range(len(x)) if j != i)[: len(x) - f - 1])
        if best is None or score < best:
            best, chosen = score, i
    return x[chosen]


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (kept, "multikrum"),
        (not_dropped, "multikrum"),
        (not_marked, "multikrum"),
        (averaged, "multikrum"),
        (weighed, "multikrum"),
        (weighed_down, "multikrum"),
        (one_hot, "krum"),
        (partitioned_neighbours, "krum"),
        (tensor_mask, "multikrum"),
        (tensor_weights, "krum"),
        (tensors_in_order, "krum"),
        (least_of_tensors, "krum"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
@pytest.mark.parametrize(("n", "f"), [(7, 2), (12, 3)])
def test_a_spelling_is_the_rule_that_it_spells(rule: Any, name: str, n: int, f: int) -> None:
    found = trace(resolve(rule, f, n), n)
    assert found.recipe == parse(name, f).recipe(n)


def twice(x: Any, f: int) -> Any:
    mask = np.zeros(len(x), dtype=bool)
    mask[np.argmin(scores_of_all(x, f))] = True
    mask[np.argmax(scores_of_all(x, f))] = True
    return x[mask].mean(axis=0)


def first_by_place(x: Any, f: int) -> Any:
    mask = np.zeros(len(x), dtype=bool)
    mask[np.argsort(scores_of_all(x, f))[:3]] = True
    return x[mask][0]


def of_two_orders(x: Any, f: int) -> Any:
    weights = np.zeros(len(x))
    order, other = np.argsort(scores_of_all(x, f)), np.argsort(-((x - x.mean(0)) ** 2).sum(1))
    weights[[order[0], other[0]]] = 0.5
    return weights @ x


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (twice, "mask[np.argmax(scores_of_all(x, f))] = True"),
        (first_by_place, "return x[mask][0]"),
        (of_two_orders, "weights[[order[0], other[0]]] = 0.5"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_what_depends_on_more_than_the_order_is_refused(rule: Any, line: str) -> None:
    with pytest.raises(Untraceable) as refused:
        trace(resolve(rule, 1, 7), 7)
    assert refused.value.line == line
