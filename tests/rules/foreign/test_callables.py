"""Plain callables, classes and torch modules: arguments, copies, state, randomness, batches."""

from __future__ import annotations

import pickle
import random
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import Adapted, resolve

X = np.random.default_rng(0).normal(size=(7, 3))


def average(x: Any) -> Any:
    return x.mean(axis=0)


def trimmed(x: Any, f: int) -> Any:
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def positional_only(x: Any, num_byzantine: int, /, *, scale: float = 1.0) -> Any:
    return scale * trimmed(x, num_byzantine)


@dataclass
class Trimmed:
    num_malicious: int
    scale: float = 1.0

    def __call__(self, x: Any) -> Any:
        return self.scale * trimmed(x, self.num_malicious)


class Momentum:
    """Keeps state between calls, as a rule under test must not be able to."""

    def __init__(self) -> None:
        self.memory = 0.0

    def __call__(self, x: Any) -> Any:
        self.memory = self.memory + x.mean(axis=0)
        return self.memory


class Noisy:
    def __call__(self, x: Any) -> Any:
        noise = random.random() + np.random.normal(size=3) + torch.randn(3, dtype=torch.float64).numpy()
        return x.mean(axis=0) + noise


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((7,), 0.125))

    def forward(self, matrix: torch.Tensor) -> torch.Tensor:
        return self.weight @ matrix


@pytest.mark.parametrize("rule", [trimmed, positional_only, Trimmed, Trimmed(2), Trimmed(2).__call__])
def test_f_reaches_the_rule(rule: Any) -> None:
    np.testing.assert_array_equal(resolve(rule, f=2)(X), trimmed(X, 2))


@pytest.mark.parametrize("rule", [positional_only, Trimmed])
def test_options_reach_the_rule(rule: Any) -> None:
    np.testing.assert_array_equal(resolve(rule, f=2, scale=3.0)(X), 3.0 * trimmed(X, 2))


def test_number_of_rows_reaches_a_rule_that_requires_it() -> None:
    def counting(x: Any, n: int) -> Any:
        return x[0] * n

    np.testing.assert_array_equal(resolve(counting, f=1)(X), X[0] * 7)


@pytest.mark.parametrize(
    ("rule", "options", "message"),
    [
        (average, {"nu": 1}, "does not take the option nu"),
        (Trimmed, {"nu": 1}, "does not take the option nu; its parameters: num_malicious, scale"),
        (Trimmed(2), {"nu": 1}, "does not take the option nu"),
        (lambda x, radius: x[0], {}, "needs a value for radius"),
        (3, {}, "is a int, which cannot be called"),
        (object, {}, "cannot be called"),
        (average, {"backend": "jax"}, "backend is one of numpy, torch, same"),
    ],
)
def test_wrong_requests_are_one_clear_line(rule: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(rule, f=2, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_negative_f_is_refused() -> None:
    with pytest.raises(InputError, match="f=-1"):
        resolve(average, f=-1)


def test_object_that_cannot_be_copied_is_refused() -> None:
    locked = Momentum()
    locked.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="Momentum cannot be copied, hand over its class instead: TypeError"):
        resolve(locked, f=1)


def test_compiled_function_without_a_signature() -> None:
    np.testing.assert_allclose(resolve(torch.mean, f=1, dim=0, backend="torch")(X), X.mean(axis=0))
    assert resolve(np.add.reduce, f=1)(X).shape == (3,)


@pytest.mark.parametrize("rule", [Momentum, Momentum()])
def test_state_does_not_leak(rule: Any) -> None:
    adapted = resolve(rule, f=1)
    first = adapted(X)
    np.testing.assert_array_equal(adapted(X), first)
    np.testing.assert_array_equal(adapted(np.stack([X, X])), np.stack([first, first]))


def test_object_handed_over_is_neither_used_nor_watched() -> None:
    momentum = Momentum()
    adapted = resolve(momentum, f=1)
    first = adapted(X)
    assert momentum.memory == 0.0
    momentum.memory = 100.0
    np.testing.assert_array_equal(adapted(X), first)


@pytest.mark.parametrize("family", ["numpy", "torch"])
def test_input_is_not_mutated(family: str) -> None:
    def destroys(x: Any) -> Any:
        x[:] = 0.0
        return x[0]

    x = X.copy() if family == "numpy" else torch.from_numpy(X.copy())
    assert not np.asarray(resolve(destroys, f=1)(x)).any()
    np.testing.assert_array_equal(np.asarray(x), X)


def test_randomness_is_reproducible_and_depends_on_the_seed() -> None:
    first = resolve(Noisy, f=1, seed=3)(X)
    random.seed(99)
    np.random.seed(99)
    torch.manual_seed(99)
    np.testing.assert_array_equal(resolve(Noisy, f=1, seed=3)(X), first)
    assert (resolve(Noisy, f=1, seed=4)(X) != first).all()


def test_global_random_states_are_untouched() -> None:
    def draws() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))

    def reset() -> None:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)

    reset()
    expected = draws()
    reset()
    resolve(Noisy, f=1, seed=5)(X)
    assert draws() == expected


def test_random_states_are_restored_after_a_fault() -> None:
    def fails(x: Any) -> Any:
        random.random()
        raise ValueError

    before = random.getstate()
    assert resolve(fails, f=1).outcome(X).fault is not None
    assert random.getstate() == before


@pytest.mark.parametrize("family", ["numpy", "torch"])
def test_batch_equals_loop(family: str) -> None:
    batch = np.random.default_rng(1).normal(size=(2, 3, 7, 4))
    result = resolve(trimmed, f=2, backend="numpy")(batch if family == "numpy" else torch.from_numpy(batch))
    assert isinstance(result, np.ndarray if family == "numpy" else torch.Tensor)
    assert tuple(result.shape) == (2, 3, 4)
    for i in range(2):
        for j in range(3):
            np.testing.assert_array_equal(np.asarray(result[i, j]), trimmed(batch[i, j], 2))


@pytest.mark.parametrize("backend", ["numpy", "torch", "same"])
@pytest.mark.parametrize("family", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_rule_gets_its_form_in_float64_and_the_caller_his_own(backend: str, family: str, dtype: str) -> None:
    seen = []

    def spy(x: Any) -> Any:
        seen.append((type(x), str(x.dtype).removeprefix("torch.")))
        return x[0]

    x = X.astype(dtype) if family == "numpy" else torch.from_numpy(X.astype(dtype))
    result = resolve(spy, f=1, backend=backend)(x)
    wanted = family if backend == "same" else backend
    assert seen == [(np.ndarray if wanted == "numpy" else torch.Tensor, "float64")]
    assert type(result) is type(x)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result), X[0].astype(dtype))


def test_annotations_choose_the_form() -> None:
    def on_tensors(x: torch.Tensor) -> torch.Tensor:
        return torch.mean(x, dim=0)

    def on_arrays(x: np.ndarray[Any, Any]) -> Any:
        return np.median(x, axis=0)

    np.testing.assert_allclose(resolve(on_tensors, f=1)(X), X.mean(axis=0))
    np.testing.assert_array_equal(resolve(on_arrays, f=1)(torch.from_numpy(X)).numpy(), np.median(X, axis=0))


@pytest.mark.parametrize("rule", [Linear, Linear()])
def test_torch_module(rule: Any) -> None:
    adapted = resolve(rule, f=1)
    np.testing.assert_allclose(adapted(X), X.sum(axis=0) / 8)
    result = adapted(torch.from_numpy(X))
    assert not result.requires_grad


def test_gradients_pass_through_a_torch_rule() -> None:
    x = torch.from_numpy(X.copy()).requires_grad_()
    resolve(average, f=1)(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), np.full((7, 3), 1 / 7))


def test_handed_over_rule_survives_pickling() -> None:
    adapted = pickle.loads(pickle.dumps(resolve(np.median, f=2, axis=0)))
    np.testing.assert_array_equal(adapted(X), np.median(X, axis=0))


def test_name_f_and_repr() -> None:
    adapted = resolve(Trimmed, f=2, seed=5)
    assert isinstance(adapted, Adapted)
    assert adapted.name.endswith(":Trimmed")
    assert adapted.f == 2
    assert repr(adapted) == f"Adapted(name='{adapted.name}', f=2, form='same', seed=5)"


def test_adapted_rule_resolves_to_itself() -> None:
    adapted = resolve(average, f=1)
    assert resolve(adapted, f=1) is adapted
