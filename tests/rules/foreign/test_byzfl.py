"""ByzFL as it is: the real package, of which only what is needed gets imported."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import pickle
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import Adapted, PreAdapted, resolve

pytestmark = pytest.mark.skipif(importlib.util.find_spec("byzfl") is None, reason="byzfl is not installed")

N, F, D = 9, 2, 4


@pytest.fixture
def x() -> Any:
    return np.random.default_rng(7).normal(size=(N, D))


def naive_krum(x: Any, f: int) -> Any:
    """The vector with the smallest sum of squared distances to its n - f nearest, itself among them."""
    scores = [sum(sorted(float(((row - other) ** 2).sum()) for other in x)[: len(x) - f]) for row in x]
    return x[int(np.argmin(scores))]


def naive_nnm(x: Any, f: int) -> Any:
    """Each vector replaced by the mean of its n - f nearest, itself among them."""
    return np.array([x[np.argsort(((x - row) ** 2).sum(axis=1))[: len(x) - f]].mean(axis=0) for row in x])


def naive_mda(x: Any, f: int) -> Any:
    """The mean of the n - f vectors of smallest diameter."""

    def diameter(subset: Iterable[int]) -> float:
        return max(float(np.linalg.norm(x[i] - x[j])) for i, j in itertools.combinations(subset, 2))

    return x[list(min(itertools.combinations(range(len(x)), len(x) - f), key=diameter))].mean(axis=0)


def naive_trimmed_mean(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


@pytest.mark.parametrize(
    ("spec", "naive"),
    [
        ("byzfl:Average", lambda x: x.mean(axis=0)),
        ("byzfl:Median", lambda x: np.median(x, axis=0)),
        ("byzfl:TrMean", lambda x: naive_trimmed_mean(x, F)),
        ("byzfl:Krum", lambda x: naive_krum(x, F)),
        ("byzfl.aggregators.aggregators:Krum", lambda x: naive_krum(x, F)),
        ("byzfl:Krum(f=3)", lambda x: naive_krum(x, 3)),
        ("byzfl:MDA", lambda x: naive_mda(x, F)),
        ("byzfl:NNM", lambda x: naive_nnm(x, F)),
        ("byzfl:NNM+byzfl:Krum", lambda x: naive_krum(naive_nnm(x, F), F)),
        ("byzfl:NNM+byzfl:NNM+byzfl:TrMean", lambda x: naive_trimmed_mean(naive_nnm(naive_nnm(x, F), F), F)),
        ("byzfl:Bucketing(s=1)+byzfl:Median", lambda x: np.median(x, axis=0)),
    ],
)
def test_agrees_with_the_definition(spec: str, naive: Any, x: Any) -> None:
    adapted = resolve(spec, f=F, n=N)
    assert adapted.name == spec
    for data in (x, x + 1e6):
        np.testing.assert_allclose(adapted(data), naive(data), rtol=1e-12)
    tensor = adapted(torch.from_numpy(x))
    assert tensor.dtype == torch.float64
    np.testing.assert_allclose(tensor.numpy(), naive(x), rtol=1e-12)


@pytest.mark.parametrize("name", ["GeometricMedian", "MultiKrum", "CenteredClipping", "MoNNA", "Meamed", "CAF", "SMEA"])
def test_every_other_rule_answers_and_repeats_itself(name: str, x: Any) -> None:
    adapted = resolve(f"byzfl:{name}", f=F)
    assert isinstance(adapted, Adapted)
    first = adapted(x)
    assert first.shape == (D,)
    np.testing.assert_array_equal(adapted(x), first)


@pytest.mark.parametrize(("name", "rows"), [("NNM", N), ("Clipping(c=0.1)", N), ("ARC", N), ("Bucketing(s=2)", 5)])
def test_pre_aggregations_leave_the_input_alone(name: str, rows: int, x: Any) -> None:
    pre = resolve(f"byzfl:{name}", f=F)
    assert isinstance(pre, PreAdapted)
    before = x.copy()
    result = pre(x)
    assert result.shape == (rows, D)
    assert (result != x[:rows]).any()
    np.testing.assert_array_equal(x, before)
    tensor = torch.from_numpy(x.copy())
    resolve(f"byzfl:{name}", f=F, backend="torch")(tensor.float())
    np.testing.assert_array_equal(tensor.numpy(), before)


def test_batch(x: Any) -> None:
    batch = np.random.default_rng(1).normal(size=(2, 3, N, D))
    result = resolve("byzfl:NNM+byzfl:Krum", f=F)(batch)
    assert result.shape == (2, 3, D)
    np.testing.assert_allclose(result[1, 2], naive_krum(naive_nnm(batch[1, 2], F), F), rtol=1e-12)
    assert resolve("byzfl:Bucketing(s=2)", f=F)(batch).shape == (2, 3, 5, D)


def test_seed_decides_the_randomness(x: Any) -> None:
    results = [resolve("byzfl:Bucketing(s=2)", f=F, seed=seed)(x) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0] != results[2]).any()


def test_state_of_an_object_handed_over_does_not_leak(x: Any) -> None:
    resolve("byzfl:CenteredClipping", f=F)
    module = importlib.import_module("byzfl.aggregators.aggregators")
    clipping = module.CenteredClipping(tau=0.5)
    adapted = resolve(clipping, f=F)
    assert adapted.name == "byzfl.aggregators.aggregators:CenteredClipping"
    first = adapted(x)
    np.testing.assert_array_equal(adapted(x), first)
    np.testing.assert_array_equal(clipping(x), first)
    assert (clipping(x) != first).any()


def test_own_pipeline_object(x: Any) -> None:
    spec = (
        'byzfl:RobustAggregator(aggregator_info={"name": "Krum", "parameters": {"f": 2}},'
        ' pre_agg_list=[{"name": "NNM", "parameters": {"f": 2}}])'
    )
    np.testing.assert_allclose(resolve(spec, f=F)(x), naive_krum(naive_nnm(x, F), F), rtol=1e-12)
    module = importlib.import_module("byzfl.fed_framework.robust_aggregator")
    pipeline = module.RobustAggregator({"name": "TrMean", "parameters": {"f": 2}})
    np.testing.assert_allclose(resolve(pipeline, f=F)(x), naive_trimmed_mean(x, F), rtol=1e-12)


def test_torch_path_is_single_precision(x: Any) -> None:
    data = x + 1e6
    exact = resolve("byzfl:TrMean", f=F)(data)
    single = resolve("byzfl:TrMean", f=F, backend="torch")(data)
    assert np.abs(exact - single).max() > 1e-4
    np.testing.assert_allclose(single, exact, atol=1.0)


@pytest.mark.parametrize("equal", [False, True])
def test_none_is_a_fault(equal: bool, x: Any) -> None:
    fault = resolve("byzfl:CAF", f=F if equal else 0).outcome(np.ones((N, D)) if equal else x).fault
    assert fault is not None
    assert fault.kind == "none"


def test_nan_and_exceptions_are_faults(x: Any) -> None:
    x[0, 0] = np.nan
    fault = resolve("byzfl:Average", f=F).outcome(x).fault
    assert fault is not None
    assert fault.kind == "nan"
    fault = resolve("byzfl:Krum", f=5).outcome(np.ones((N, D))).fault
    assert fault is not None
    assert fault.kind == "exception"
    assert "ValueError: Cannot tolerate" in fault.detail


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("byzfl:Krumm", "byzfl has no attribute Krumm; did you mean Krum"),
        ("byzfl:CenteredClipping(tau=1)", "cannot be constructed with f=2: ValueError"),
        ("byzfl:Krum(nu=1)", "does not take the option nu; its parameters: f"),
        ("byzfl:Krum+byzfl:Krum", "byzfl:Krum is a rule, and can only be the last stage"),
    ],
)
def test_wrong_requests(spec: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(spec, f=F)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_survives_pickling(x: Any) -> None:
    adapted = resolve("byzfl:NNM+byzfl:Krum", f=F, seed=3)
    again = pickle.loads(pickle.dumps(adapted))
    assert again.seed == 3
    np.testing.assert_array_equal(again(x), adapted(x))


PROGRAM = """
import sys
from kappaguard.rules.foreign import resolve
assert "torch" not in sys.modules
resolve("byzfl:NNM+byzfl:Krum", f=2)
resolve("byzfl:RobustAggregator(aggregator_info={'name': 'Median', 'parameters': {}})", f=2)
assert "byzfl.aggregators.aggregators" in sys.modules
for absent in ("byzfl", "byzfl.fed_framework", "byzfl.benchmark"):
    assert absent not in sys.modules, absent
"""


def test_heavy_parts_are_not_imported_and_no_stand_in_stays() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], check=True, timeout=120)
