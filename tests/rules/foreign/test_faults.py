"""Whatever a rule does wrong becomes a fault of the right kind; nothing else is swallowed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.foreign import resolve

X = np.arange(15.0).reshape(5, 3)


def raises(x: Any) -> Any:
    raise KeyError("first line\nsecond line")


def divides_by_zero(x: Any) -> Any:
    return (x[0] - x[0]) / np.zeros(3)


def overflows(x: Any) -> Any:
    warnings.warn("about to overflow", stacklevel=1)
    return np.full(3, 1e308) * 10


@pytest.mark.parametrize(
    ("rule", "kind", "detail"),
    [
        (lambda x: None, "none", "returned None"),
        (lambda x: x[0] * np.nan, "nan", "returned NaN"),
        (divides_by_zero, "nan", "returned NaN"),
        (overflows, "infinite", "infinite entry for finite input"),
        (raises, "exception", "raised KeyError"),
        (lambda x: x, "shape", "returned shape (5, 3) for input of shape (5, 3)"),
        (lambda x: x[0, 0], "shape", "returned shape ()"),
        (lambda x: x[0, :2], "shape", "returned shape (2,)"),
        (lambda x: "a vector", "type", "returned str"),
        (lambda x: ["a"] * 3, "type", "returned list, not an array and not a list of numbers"),
        (lambda x: [True] * 3, "type", "returned list"),
        (lambda x: x.tolist(), "type", "returned list"),
        (lambda x: {0: 1.0}, "type", "returned dict"),
        (lambda x: (1.0, 2.0), "shape", "returned shape (2,)"),
        (lambda x: [10**400] * 3, "infinite", "too large for a float"),
        (lambda x: x[0] > 0, "type", "array of bool"),
        (lambda x: x[0].astype(object), "type", "array of object"),
        (lambda x: x[0] + 0j, "type", "array of complex128"),
    ],
)
def test_fault_kinds(rule: Callable[[Any], Any], kind: str, detail: str) -> None:
    adapted = resolve(rule, f=1)
    with pytest.raises(RuleFault) as caught:
        adapted(X)
    assert caught.value.kind == kind
    assert caught.value.rule == adapted.name
    assert detail in caught.value.detail
    assert "\n" not in caught.value.detail
    outcome = adapted.outcome(X)
    assert outcome.value is None
    assert outcome.fault is not None
    assert outcome.fault.kind == kind


@pytest.mark.parametrize(
    "rule",
    [
        lambda x: list(x[1]),
        lambda x: x[1].tolist(),
        lambda x: tuple(int(value) for value in x[1]),
        lambda x: x[1].astype(np.int32),
        lambda x: x[1].astype(np.uint8),
    ],
)
def test_numbers_are_a_vector_whatever_holds_them(rule: Callable[[Any], Any]) -> None:
    returned = resolve(rule, f=1)(X)
    assert returned.dtype == np.float64
    assert returned.tolist() == [3.0, 4.0, 5.0]


def test_outcome_without_fault_has_the_value() -> None:
    outcome = resolve(lambda x: x.mean(axis=0), f=1).outcome(X)
    assert outcome.fault is None
    np.testing.assert_array_equal(outcome.value, X.mean(axis=0))


def test_one_bad_matrix_of_a_batch_is_a_fault() -> None:
    batch = np.stack([X, X])
    batch[1, 0, 0] = -1.0
    rule = resolve(lambda x: None if x[0, 0] < 0 else x[0], f=1)
    assert rule.outcome(batch[:1]).fault is None
    fault = rule.outcome(batch).fault
    assert fault is not None
    assert fault.kind == "none"


def test_infinite_output_is_no_fault_for_infinite_input() -> None:
    x = X.copy()
    x[0] = np.inf
    assert np.isinf(resolve(lambda v: v[0], f=1)(x)).all()
    np.testing.assert_array_equal(resolve(lambda v: v[1], f=1)(x), X[1])


def test_nan_output_is_a_fault_for_infinite_input_too() -> None:
    x = X.copy()
    x[0], x[1] = np.inf, -np.inf
    fault = resolve(lambda v: v.sum(axis=0), f=1).outcome(x).fault
    assert fault is not None
    assert fault.kind == "nan"


def test_interrupts_are_not_swallowed() -> None:
    def interrupted(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        resolve(interrupted, f=1).outcome(X)


@pytest.mark.parametrize("x", [np.zeros(3), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((0, 2, 3))])
def test_input_of_a_wrong_shape_is_the_callers_error(x: Any) -> None:
    with pytest.raises(InputError, match="shape"):
        resolve(lambda v: v[0], f=1).outcome(x)


def test_exact_fractions_are_refused() -> None:
    with pytest.raises(InputError, match="exact fractions"):
        resolve(lambda v: v[0], f=1)(X.astype(object))


def test_an_error_whose_text_cannot_be_had():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def mute(x):
        raise Mute

    assert resolve(mute, f=1).outcome(np.zeros((3, 2))).fault.detail == "raised Mute"
