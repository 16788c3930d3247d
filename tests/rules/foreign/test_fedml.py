"""FedML's defences as they are, around its average."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.counts import takes_counts
from kappaguard.rules.foreign.resolve import resolve

pytest.importorskip("torch")
if importlib.util.find_spec("fedml") is None:
    pytest.skip("FedML is not installed", allow_module_level=True)

N, F = 11, 2


@pytest.fixture
def x() -> Any:
    return np.random.default_rng(3).normal(size=(N, 4))


def test_the_median(x: Any) -> None:
    np.testing.assert_allclose(resolve("fedml:CoordinateWiseMedianDefense", F)(x), np.median(x, axis=0))


@pytest.mark.parametrize("selected", [1, 3])
def test_krum_adds_up_n_minus_f_minus_two_others(x: Any, selected: int) -> None:
    distances = [sorted(float(((row - other) ** 2).sum()) for other in x)[1 : N - F - 1] for row in x]
    best = np.argsort([sum(each) for each in distances])[:selected]
    found = resolve(f"fedml:KrumDefense(krum_param_m={selected})", F)(x)
    np.testing.assert_allclose(found, x[best].mean(axis=0), rtol=1e-6)


def test_the_trimmed_mean_sorts_by_numbers_of_examples(x: Any) -> None:
    found = resolve("fedml:CoordinateWiseTrimmedMeanDefense", F)(x)
    np.testing.assert_allclose(found, x[F : N - F].mean(axis=0))
    counts = tuple(range(N, 0, -1))
    weighted = resolve("fedml:CoordinateWiseTrimmedMeanDefense", F, num_examples=counts)
    assert takes_counts(weighted)
    np.testing.assert_allclose(weighted(x), np.average(x[F : N - F], axis=0, weights=counts[F : N - F]))


def test_the_geometric_median_has_one_weight_for_all_that_are_equal(x: Any) -> None:
    """Of weights in a set one is left, and with it one vector: the first."""
    np.testing.assert_allclose(resolve("fedml:GeometricMedianDefense", F)(x), x[0])


def test_what_is_no_defence() -> None:
    with pytest.raises(InputError, match="no attribute"):
        resolve("fedml:NoDefense", F)
