"""Weighted rules: copies say what they are, and the weighted ratio is the ratio of copies."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.rules.ratio import ratio
from kappaguard.rules.weighted import weighted, weighted_ratio

WEIGHTS = [4, 1, 3, 2, 5, 1]
F = 5


def copies(x: Any) -> Any:
    return np.concatenate([np.repeat(x[i : i + 1], weight, axis=0) for i, weight in enumerate(WEIGHTS)])


@pytest.mark.parametrize("name", ["average", "cwtm", "cwmed", "gm", "krum", "multikrum"])
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_copies(name: str, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(len(WEIGHTS), 3))
    np.testing.assert_allclose(weighted(name, F)(x, WEIGHTS), parse(name, F)(copies(x)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["average", "cwtm", "cwmed", "krum"])
def test_weights_are_copies_where_values_tie(name: str) -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        values = generator.integers(-1, 2, size=(len(WEIGHTS), 2))
        exact = np.array([[Fraction(int(value)) for value in row] for row in values], dtype=object)
        assert weighted(name, F)(exact, WEIGHTS).tolist() == parse(name, F)(copies(exact)).tolist()


@pytest.mark.parametrize("name", ["average", "cwtm", "cwmed"])
def test_tensors(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).normal(size=(len(WEIGHTS), 3))
    output = weighted(name, F)(torch.from_numpy(x), WEIGHTS)
    np.testing.assert_allclose(output.numpy(), weighted(name, F)(x, WEIGHTS), rtol=1e-12)


@pytest.mark.parametrize("name", ["average", "cwtm", "cwmed", "krum"])
def test_only_shares_count(name: str) -> None:
    x = np.random.default_rng(2).normal(size=(len(WEIGHTS), 3))
    large = [weight * 10**9 for weight in WEIGHTS]
    np.testing.assert_allclose(weighted(name, F * 10**9)(x, large), weighted(name, F)(x, WEIGHTS), rtol=1e-12)


def test_the_median_of_odd_and_even_weights() -> None:
    x = np.array([[0.0], [1.0], [5.0]])
    assert weighted("cwmed")(x, [2, 1, 4]) == 5
    assert weighted("cwmed")(x, [2, 2, 4]) == 3
    assert weighted("cwmed")(x, [2, 3, 0]) == 1


def test_the_ratio_is_that_of_copies() -> None:
    generator = np.random.default_rng(3)
    x = np.array([[Fraction(int(value)) for value in row] for row in generator.integers(-5, 6, (6, 2))], dtype=object)
    output = np.array([Fraction(1, 3), Fraction(2)], dtype=object)
    honest = [0, 2, 3, 5]
    owners = np.repeat(np.arange(6), WEIGHTS)
    subset = [place for place, i in enumerate(owners) if i in honest]
    found = weighted_ratio(output, x, honest, WEIGHTS)
    assert found == ratio(output, copies(x), subset)
    shares = [Fraction(weight, 7) for weight in WEIGHTS]
    assert weighted_ratio(output, x, honest, shares) == found
    floats = weighted_ratio(output.astype(float), x.astype(float), honest, WEIGHTS)
    assert floats == pytest.approx(float(found), rel=1e-12)


def test_no_spread() -> None:
    x = np.zeros((3, 1))
    assert weighted_ratio(np.zeros(1), x, [0, 1], [1, 2, 3]) == 0
    assert weighted_ratio(np.ones(1), x, [0, 1], [1, 2, 3]) == float("inf")


@pytest.mark.parametrize("weights", [[], [1, 2], [1, -1, 3, 1, 1, 1], [0] * 6, [1.5, 1, 1, 1, 1, 1], ["a"] * 6])
def test_bad_weights(weights: list[Any]) -> None:
    with pytest.raises(InputError, match="weights"):
        weighted("cwmed")(np.zeros((6, 1)), weights)


def test_requests_that_make_no_sense() -> None:
    x = np.zeros((3, 1))
    with pytest.raises(InputError, match="trim"):
        weighted("cwtm", 3)(x, [1, 2, 3])
    with pytest.raises(InputError, match="copies"):
        weighted("gm")(x, [10**6, 1, 1])
