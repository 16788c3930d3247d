"""Numbers of examples reach the rules that are told them, and only those."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.counts import named_with_counts, per_row, takes_counts, with_counts
from kappaguard.rules.foreign.resolve import resolve


def by_pairs(results: Any) -> Any:
    total = sum(count for _, count in results)
    return [sum(layers[k] * count for layers, count in results) / total for k in range(len(results[0][0]))]


def by_parameter(x: Any, weights: Any) -> Any:
    return np.average(x, axis=0, weights=weights)


def by_other_parameter(x: Any, f: int, num_examples: Any) -> Any:
    return np.average(x, axis=0, weights=num_examples)


def told_nothing(weights: Any, f: int) -> Any:
    return np.mean(weights, axis=0)


X = np.arange(10.0).reshape(5, 2)


@pytest.mark.parametrize("rule", [by_pairs, by_parameter, by_other_parameter])
def test_counts_arrive(rule: Any) -> None:
    counts = (1, 2, 3, 4, 90)
    adapted = resolve(rule, f=1)
    np.testing.assert_allclose(adapted(X), X.mean(axis=0))
    assert takes_counts(adapted)
    expected = np.average(X, axis=0, weights=counts)
    np.testing.assert_allclose(with_counts(adapted, counts)(X), expected)
    np.testing.assert_allclose(resolve(rule, f=1, num_examples=counts)(X), expected)


def test_who_is_told_nothing() -> None:
    adapted = resolve(told_nothing, f=1)
    np.testing.assert_allclose(adapted(X), X.mean(axis=0))
    assert not takes_counts(adapted)
    assert not takes_counts(np.mean)


def test_wrong_numbers() -> None:
    with pytest.raises(InputError, match="rows"):
        per_row((1, 2), 3)
    with pytest.raises(InputError, match="negative"):
        resolve(by_pairs, f=1, num_examples=(-1, 1))


def test_names() -> None:
    assert named_with_counts("a.b:C(k=2)", [1, 5]) == "a.b:C(k=2, num_examples=(1, 5))"
    assert named_with_counts("a.b:C(num_examples=3)", [1, 5]) == "a.b:C(num_examples=(1, 5))"
