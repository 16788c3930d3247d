"""Flower as it is: the functions, the old and the new strategies of the real package."""

from __future__ import annotations

import importlib
import logging
from typing import Any

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import resolve

pytest.importorskip("flwr.serverapp.strategy", reason="flwr or one of its light dependencies is not installed")

N, F, D = 11, 2, 4


@pytest.fixture
def x() -> Any:
    return np.random.default_rng(3).normal(size=(N, D))


def naive_scores(x: Any, f: int) -> list[float]:
    """Flower's Krum: squared distances to the n - f - 2 nearest others, of which at least one."""
    distances = [sorted(float(((row - other) ** 2).sum()) for other in x) for row in x]
    return [sum(nearest[1 : 1 + max(1, len(x) - f - 2)]) for nearest in distances]


def naive_krum(x: Any, f: int) -> Any:
    return x[int(np.argmin(naive_scores(x, f)))]


def naive_trimmed_mean(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


@pytest.mark.parametrize(
    ("spec", "naive"),
    [
        ("flwr:Krum", lambda x: naive_krum(x, F)),
        ("flwr:aggregate_krum", lambda x: naive_krum(x, F)),
        ("flwr.server.strategy:Krum", lambda x: naive_krum(x, F)),
        ("flwr:MultiKrum(num_nodes_to_select=3)", lambda x: x[np.argsort(naive_scores(x, F))[:3]].mean(axis=0)),
        ("flwr:aggregate_krum(to_keep=3)", lambda x: x[np.argsort(naive_scores(x, F))[:3]].mean(axis=0)),
        ("flwr:FedMedian", lambda x: np.median(x, axis=0)),
        ("flwr:aggregate_median", lambda x: np.median(x, axis=0)),
        ("flwr.server.strategy:FedMedian", lambda x: np.median(x, axis=0)),
        ("flwr:FedTrimmedAvg", lambda x: naive_trimmed_mean(x, F)),
        ("flwr:aggregate_trimmed_avg", lambda x: naive_trimmed_mean(x, F)),
        ("flwr.server.strategy:FedTrimmedAvg", lambda x: naive_trimmed_mean(x, F)),
        ("flwr:FedTrimmedAvg(beta=0.3)", lambda x: naive_trimmed_mean(x, 3)),
        ("flwr:FedAvg", lambda x: x.mean(axis=0)),
        ("flwr:aggregate", lambda x: x.mean(axis=0)),
        ("flwr.server.strategy:FedAvg", lambda x: x.mean(axis=0)),
    ],
)
def test_agrees_with_the_definition(spec: str, naive: Any, x: Any) -> None:
    adapted = resolve(spec, f=F, n=N)
    before = x.copy()
    np.testing.assert_allclose(adapted(x), naive(x), rtol=1e-12)
    np.testing.assert_array_equal(adapted(np.stack([x, x]))[1], adapted(x))
    np.testing.assert_array_equal(x, before)


def naive_bulyan(x: Any, selected: list[int], f: int) -> Any:
    """Coordinate by coordinate, the mean of the selected values that are nearest to their median."""
    chosen = x[selected]
    kept = len(selected) - 2 * f
    nearest = np.argsort(np.abs(chosen - np.median(chosen, axis=0)), axis=0)[:kept]
    return np.take_along_axis(chosen, nearest, axis=0).mean(axis=0)


def test_old_bulyan_selects_one_by_one(x: Any) -> None:
    left = list(range(N))
    selected = []
    for _ in range(N - 2 * F):
        selected.append(left.pop(int(np.argmin(naive_scores(x[left], F)))))
    expected = naive_bulyan(x, selected, F)
    np.testing.assert_allclose(resolve("flwr:aggregate_bulyan", f=F)(x), expected, rtol=1e-12)
    np.testing.assert_allclose(resolve("flwr.server.strategy:Bulyan(to_keep=0)", f=F)(x), expected, rtol=1e-12)


def test_new_bulyan_selects_at_once(x: Any) -> None:
    selected = [int(index) for index in np.argsort(naive_scores(x, F))[: N - 2 * F]]
    np.testing.assert_allclose(resolve("flwr:Bulyan", f=F)(x), naive_bulyan(x, selected, F), rtol=1e-12)


def test_object_handed_over(x: Any) -> None:
    strategies = importlib.import_module("flwr.serverapp.strategy")
    adapted = resolve(strategies.Krum(num_malicious_nodes=3), f=F)
    np.testing.assert_allclose(adapted(x), naive_krum(x, 3), rtol=1e-12)
    old = importlib.import_module("flwr.server.strategy")
    np.testing.assert_allclose(resolve(old.Krum(num_malicious_clients=3), f=F)(x), naive_krum(x, 3), rtol=1e-12)


def test_users_own_strategy_is_recognised_by_its_base_class(x: Any) -> None:
    strategies = importlib.import_module("flwr.serverapp.strategy")
    mine = type("Mine", (strategies.FedMedian,), {"__module__": "my_project"})
    np.testing.assert_allclose(resolve(mine, f=F)(x), np.median(x, axis=0))


@pytest.mark.parametrize("spec", ["flwr:FedAvg", "flwr:aggregate", "flwr.server.strategy:FedAvg"])
def test_attacker_chooses_the_number_of_examples(spec: str, x: Any) -> None:
    counts = [1] * (N - 1) + [10**9]
    adapted = resolve(spec, f=F, num_examples=counts)
    np.testing.assert_allclose(adapted(x), x[-1], atol=1e-6)
    np.testing.assert_allclose(resolve(spec, f=F, num_examples=7)(x), x.mean(axis=0))


def test_wrong_number_of_examples(x: Any) -> None:
    with pytest.raises(InputError, match="num_examples has 2 entries for n=11 rows"):
        resolve("flwr:FedAvg", f=F, num_examples=[1, 2])(x)
    with pytest.raises(InputError, match="must not be negative"):
        resolve("flwr:FedAvg", f=F, num_examples=-1)
    with pytest.raises(InputError, match="num_examples is a whole number or one per row"):
        resolve("flwr:FedAvg", f=F, num_examples=None)


def test_no_aggregate_is_a_fault(x: Any) -> None:
    fault = resolve("flwr:Bulyan", f=3).outcome(x).fault
    assert fault is not None
    assert fault.kind == "none"
    fault = resolve("flwr:aggregate_bulyan", f=3).outcome(x).fault
    assert fault is not None
    assert fault.kind == "exception"


def test_flowers_log_is_silent_during_the_call_only(x: Any) -> None:
    records: list[logging.LogRecord] = []

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    handler = Recorder()
    logger = logging.getLogger("flwr")
    logger.addHandler(handler)
    try:
        resolve("flwr:FedAvg", f=F)(x)
        resolve("flwr.server.strategy:FedAvg", f=F)(x)
        assert records == []
        logger.error("still there")
        assert len(records) == 1
    finally:
        logger.removeHandler(handler)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("flwr:aggregate_inplace", "the functions: aggregate, aggregate_bulyan, aggregate_krum"),
        ("flwr:Krumm", "did you mean Krum"),
        ("flwr:Krum(nu=1)", "does not take the option nu"),
        ("flwr:FedTrimmedAvg(beta=0.5)", "cannot be constructed with f=2: ValueError"),
        ("flwr.common:FitRes", "needs a value for"),
    ],
)
def test_wrong_requests(spec: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(spec, f=F)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
