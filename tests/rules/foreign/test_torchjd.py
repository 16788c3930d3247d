"""TorchJD as it is."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import resolve

pytest.importorskip("torchjd.aggregation", reason="torchjd is not installed")

N, F = 9, 2
X = np.random.default_rng(5).normal(size=(N, 4))


def naive_krum(x: Any, f: int) -> Any:
    """TorchJD's Krum: distances, not squared, to the n - f - 2 nearest others."""
    scores = [sum(sorted(float(np.linalg.norm(row - other)) for other in x)[1 : len(x) - f - 1]) for row in x]
    return x[int(np.argmin(scores))]


def test_agrees_with_the_definition() -> None:
    np.testing.assert_allclose(resolve("torchjd:Krum", f=F)(X), naive_krum(X, F), rtol=1e-12)
    expected = np.sort(X, axis=0)[F : N - F].mean(axis=0)
    np.testing.assert_allclose(resolve("torchjd:TrimmedMean", f=F)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(resolve("torchjd.aggregation:Mean", f=F)(X), X.mean(axis=0), rtol=1e-12)


def test_object_and_tensor_handed_over() -> None:
    module = importlib.import_module("torchjd.aggregation")
    result = resolve(module.Krum(n_byzantine=F), f=F)(torch.from_numpy(X))
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(result.numpy(), naive_krum(X, F), rtol=1e-12)


def test_exception_is_a_fault() -> None:
    fault = resolve("torchjd:Krum", f=8).outcome(X).fault
    assert fault is not None
    assert fault.kind == "exception"
    assert "ValueError" in fault.detail


def test_weightings_are_refused() -> None:
    with pytest.raises(InputError, match="weightings take the Gram matrix"):
        resolve("torchjd:KrumWeighting", f=F)
