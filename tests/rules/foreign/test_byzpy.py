"""ByzPy: the real package where it is installed, and stand-ins that follow its call convention everywhere."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import Adapted, PreAdapted, resolve

N, F, D = 9, 2, 4
X = np.random.default_rng(5).normal(size=(N, D))

installed = pytest.mark.skipif(
    importlib.util.find_spec("byzpy") is None or importlib.util.find_spec("cloudpickle") is None,
    reason="byzpy or cloudpickle is not installed",
)


class Last:
    """A rule by ByzPy's convention: takes a list of tensors, keeps state."""

    __module__ = "byzpy.stand_in"

    def __init__(self, f: int, q: int, *, chunk_size: int = 32) -> None:
        self.kept = q
        self.calls = 0

    def aggregate(self, gradients: Sequence[Any]) -> Any:
        assert isinstance(gradients, list)
        assert all(row.dtype == torch.float64 for row in gradients)
        self.calls += 1
        return self.calls * torch.stack(gradients)[: self.kept].mean(dim=0)


class Shuffle:
    """A pre-aggregation by ByzPy's convention, with a generator of its own."""

    __module__ = "byzpy.stand_in"

    def __init__(self, *, rng: random.Random | None = None) -> None:
        self.rng = rng or random.Random()

    def pre_aggregate(self, xs: Sequence[Any]) -> list[Any]:
        rows = list(xs)
        self.rng.shuffle(rows)
        return rows[:5]


class Nothing:
    __module__ = "byzpy.stand_in"


def test_rule_by_convention() -> None:
    adapted = resolve(Last, f=F)
    assert isinstance(adapted, Adapted)
    np.testing.assert_allclose(adapted(X), X[: N - F].mean(axis=0))
    np.testing.assert_allclose(adapted(np.stack([X, X]))[1], X[: N - F].mean(axis=0))
    np.testing.assert_allclose(resolve(Last, f=F, q=1)(X), X[0])
    np.testing.assert_allclose(resolve(Last(F, 1), f=F)(X), X[0])


def test_pre_aggregation_by_convention() -> None:
    pre = resolve(Shuffle, f=F, seed=1)
    assert isinstance(pre, PreAdapted)
    first = pre(X)
    assert first.shape == (5, D)
    np.testing.assert_array_equal(pre(X), first)
    assert (resolve(Shuffle, f=F, seed=2)(X) != first).any()
    handed_over = resolve(Shuffle(), f=F)
    np.testing.assert_array_equal(handed_over(X), handed_over(X))


def test_anything_else_is_refused() -> None:
    with pytest.raises(InputError, match="neither an aggregator nor a pre-aggregator"):
        resolve(Nothing, f=F)


def naive_krum(x: Any, f: int) -> Any:
    scores = [sum(sorted(float(((row - other) ** 2).sum()) for other in x)[: len(x) - f]) for row in x]
    return x[int(np.argmin(scores))]


def naive_nnm(x: Any, f: int) -> Any:
    return np.array([x[np.argsort(((x - row) ** 2).sum(axis=1))[: len(x) - f]].mean(axis=0) for row in x])


@installed
@pytest.mark.parametrize(
    ("spec", "naive"),
    [
        ("byzpy:Krum", lambda x: naive_krum(x, F)),
        ("byzpy:CoordinateWiseMedian", lambda x: np.median(x, axis=0)),
        ("byzpy:CoordinateWiseTrimmedMean", lambda x: np.sort(x, axis=0)[F : N - F].mean(axis=0)),
        ("byzpy:NearestNeighborMixing", lambda x: naive_nnm(x, F)),
        ("byzpy:NearestNeighborMixing+byzpy:Krum", lambda x: naive_krum(naive_nnm(x, F), F)),
    ],
)
def test_agrees_with_the_definition(spec: str, naive: Any) -> None:
    np.testing.assert_allclose(resolve(spec, f=F)(X), naive(X), rtol=1e-12)


@installed
@pytest.mark.parametrize(
    "name",
    ["MultiKrum", "GeometricMedian", "MinimumDiameterAveraging", "MoNNA", "SMEA", "CAF", "CenteredClipping(c_tau=1.0)"],
)
def test_every_other_rule_answers_and_repeats_itself(name: str) -> None:
    adapted = resolve(f"byzpy:{name}", f=F)
    first = adapted(X)
    assert first.shape == (D,)
    np.testing.assert_array_equal(adapted(X), first)


@installed
def test_bucketing_obeys_the_seed() -> None:
    results = [resolve("byzpy:Bucketing(bucket_size=2)", f=F, seed=seed)(X) for seed in (0, 0, 1)]
    assert results[0].shape == (5, D)
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0] != results[2]).any()


@installed
def test_missing_parameter_is_named() -> None:
    with pytest.raises(InputError, match="needs a value for c_tau"):
        resolve("byzpy:CenteredClipping", f=F)
