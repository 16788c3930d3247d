"""A client that claims a billion examples, or none."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kappaguard.verify.guard.health import examine
from kappaguard.verify.judge.subject import subject_of


def found(rule: Any) -> list[str]:
    health = examine(subject_of(rule, 7, 2), Fraction(1000))
    return [finding.message for finding in health.findings if finding.check == "claimed-examples"]


def weighted_median(x: Any, weights: Any) -> Any:
    order = np.argsort(x, axis=0, kind="stable")
    ends = np.cumsum(weights[order], axis=0)
    middle = np.argmax(2 * ends >= ends[-1], axis=0)
    return np.take_along_axis(np.take_along_axis(x, order, axis=0), middle[None], axis=0)[0]


def capped_median(x: Any, weights: Any) -> Any:
    return weighted_median(x, np.clip(weights, 1, 1))


def most_examples(results: Any) -> Any:
    """The median of those who claim most: nothing shows while all claim the same."""
    most = max(count for _, count in results)
    chosen = [layers for layers, count in results if count == most]
    return [np.median([layers[k] for layers in chosen], axis=0) for k in range(len(chosen[0]))]


def nothing_for_nobody(x: Any, num_examples: Any) -> Any:
    return np.median(x, axis=0) * min(1, num_examples.min())


def plain_median(results: Any) -> Any:
    return [np.median([layers[k] for layers, _ in results], axis=0) for k in range(len(results[0][0]))]


@pytest.mark.parametrize("rule", [weighted_median, most_examples])
def test_a_billion(rule: Any) -> None:
    (message,) = found(rule)
    assert "claim 1000000000 examples" in message


def test_none() -> None:
    (message,) = found(nothing_for_nobody)
    assert "claim 0 examples" in message


@pytest.mark.parametrize("rule", [capped_median, plain_median, "cwmed"])
def test_sound(rule: Any) -> None:
    assert found(rule) == []


def test_who_is_wrong_without_lies_is_told_so_by_another_check() -> None:
    assert found(lambda x, weights: np.average(x, axis=0, weights=weights)) == []
