"""The attacks do what the paper says, on NumPy and torch alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.search.attacks.adaptive import principal
from kappaguard.search.attacks.fall_of_empires import FallOfEmpires
from kappaguard.search.attacks.little_is_enough import LittleIsEnough
from kappaguard.search.attacks.mimic import Mimic
from kappaguard.search.attacks.names import ATTACKS, attack_named
from kappaguard.search.attacks.sign_flip import SignFlipping

HONEST = np.random.default_rng(3).standard_normal((13, 40)) + 2.0


def test_sign_flipping_sends_minus_the_mean():
    sent = SignFlipping()(HONEST, 4)
    assert sent.shape == (4, 40)
    np.testing.assert_allclose(sent, np.tile(-sum(HONEST) / 13, (4, 1)), rtol=1e-12)


def test_fall_of_empires_sends_a_multiple_of_the_mean():
    np.testing.assert_allclose(FallOfEmpires(eta=3.0)(HONEST, 2)[1], -2 * sum(HONEST) / 13, rtol=1e-12)


def test_a_little_is_enough_adds_standard_deviations():
    column = [row[7] for row in HONEST]
    mean = sum(column) / 13
    deviation = (sum((value - mean) ** 2 for value in column) / 12) ** 0.5
    assert LittleIsEnough(eta=-1.5)(HONEST, 1)[0, 7] == pytest.approx(mean - 1.5 * deviation, rel=1e-12)


def naive_mimic(steps: list[np.ndarray], seed: int, warmup: int) -> list[int]:
    """Whom the heuristic copies in each step, by its definition with loops."""
    start = np.random.default_rng(seed).standard_normal(steps[0].shape[1])
    z, mu, sums, chosen = start / np.linalg.norm(start), steps[0].mean(axis=0), np.zeros(len(steps[0])), []
    for t, x in enumerate(steps, start=1):
        if t <= warmup:
            mu = t / (t + 1) * mu + x.mean(axis=0) / (t + 1)
            c = sum((row - mu) * np.dot(row - mu, z) for row in x)
            z = t / (t + 1) * z + c / np.linalg.norm(c) / (t + 1)
            z = z / np.linalg.norm(z)
            sums = sums + [np.dot(z, row - x.mean(axis=0)) for row in x]
        chosen.append(int(np.argmax(np.abs(sums))))
    return chosen


def test_mimic_follows_the_heuristic_over_time_and_then_stays():
    generator = np.random.default_rng(5)
    centres = generator.standard_normal((9, 30))
    steps = [centres + 0.8 * generator.standard_normal((9, 30)) for _ in range(12)]
    expected = naive_mimic(steps, seed=2, warmup=8)
    memory, chosen = None, []
    for x in steps:
        action = Mimic(warmup=8, seed=2).act(x, 2, memory=memory)
        memory = action.memory
        (index,) = np.flatnonzero((x == action.vectors[0]).all(axis=1))
        chosen.append(int(index))
    assert chosen == expected
    assert len(set(chosen[7:])) == 1


def test_mimic_finds_the_worker_that_stands_out():
    generator = np.random.default_rng(0)
    outlier = np.zeros(50)
    outlier[3] = 4.0
    memory = None
    for _ in range(20):
        x = 0.3 * generator.standard_normal((11, 50))
        x[6] += outlier
        action = Mimic(warmup=15).act(x, 3, memory=memory)
        memory = action.memory
    assert np.array_equal(action.vectors, np.tile(x[6], (3, 1)))


@pytest.mark.parametrize("name", ["sf", "foe(eta=2.5)", "alie(eta=1)", "mimic", "foe", "alie", "adaptive"])
def test_torch_and_numpy_agree(name):
    under_attack = rule("nnm+cwtm", f=4)
    one = attack_named(name).act(HONEST, 4, under_attack)
    other = attack_named(name).act(torch.from_numpy(HONEST), 4, under_attack)
    assert isinstance(other.vectors, torch.Tensor)
    np.testing.assert_allclose(other.vectors.numpy(), one.vectors, rtol=1e-6)


@pytest.mark.parametrize("name", list(ATTACKS))
def test_the_honest_vectors_are_left_alone(name):
    copy = HONEST.copy()
    attack_named(name)(copy, 4, rule("cwmed"))
    assert np.array_equal(copy, HONEST)


def test_principal_is_the_first_principal_component():
    centred = HONEST - HONEST.mean(axis=0)
    centred[:, 5] *= 8
    x = centred + HONEST.mean(axis=0)
    _, values, components = np.linalg.svd(centred - centred.mean(axis=0), full_matrices=False)
    found = principal(x, x.mean(axis=0))
    assert abs(found @ components[0]) / np.linalg.norm(found) == pytest.approx(1.0, abs=1e-8)
    assert np.linalg.norm(found) == pytest.approx(values[0] / 13**0.5, rel=1e-6)


def test_adaptive_is_at_least_as_strong_as_the_optimised_attacks():
    under_attack = rule("nnm+krum", f=4)
    reached = {name: attack_named(name).act(HONEST, 4, under_attack).error for name in ("foe", "alie", "adaptive")}
    assert reached["adaptive"] >= max(reached["foe"], reached["alie"])


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("allie", "alie"),
        ("foe(eta=inf)", "name=number"),
        ("foe(tau=1)", "tau"),
        ("mimic(warmup=0)", "warmup"),
        ("(", "name"),
    ],
)
def test_a_wrong_name_or_parameter_is_told(name, named):
    with pytest.raises(InputError, match=named):
        attack_named(name)


def test_an_optimised_attack_needs_the_rule():
    with pytest.raises(InputError, match="needs the rule"):
        attack_named("alie")(HONEST, 4)
    with pytest.raises(InputError, match="one matrix"):
        attack_named("sf")(HONEST[None], 4)


def test_without_byzantine_workers_nothing_is_sent():
    for name in ATTACKS:
        assert attack_named(name)(HONEST, 0, rule("average")).shape == (0, 40)
