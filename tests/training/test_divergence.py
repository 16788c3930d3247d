"""A run that leaves the range of numbers has diverged, whatever the attack."""

from __future__ import annotations

import json

import pytest
import torch

from kappaguard.cli import main
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.messages import Diverged, require_range, send
from kappaguard.training.run import run

ATTACKS = ["alie", "foe", "sf", "mimic", "adaptive", "lf", "none"]
LARGE = {"learning_rate": 1e30, "l2": 1.0, "rule": "cwtm", "steps": 40, "n": 7, "f": 2, "measure": "none"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_may_diverge(attack, dtype):
    configuration = Configuration().with_values({**LARGE, "attack": attack, "dtype": dtype, "evaluate_every": 0})
    result = run(build(configuration), configuration)
    assert result.status == "diverged"
    assert 1 < result.steps < 40


@pytest.mark.parametrize("rule", ["nnm+gm", "krum", "meamed"])
@pytest.mark.parametrize("attack", ["alie", "adaptive"])
def test_numbers_that_can_be_squared_are_no_divergence(rule, attack):
    """Just within the range every attack and every rule still works, and gives finite vectors."""
    training = build(Configuration(n=7, f=2, rule=rule, attack=attack, steps=1, measure="light", clip=1e17))
    training.state.theta.normal_(generator=torch.Generator().manual_seed(0)).mul_(1e25)
    training.problem.l2 = 1.0
    assert training.step()["ratio"] < 100
    assert torch.isfinite(training.state.theta).all()


def test_the_range_ends_where_squares_do():
    for dtype in (torch.float32, torch.float64):
        limit = torch.finfo(dtype).max ** 0.5 / 5
        require_range(3, 0.999 * limit, 5, dtype)
        for length in (1.001 * limit, float("inf"), float("nan")):
            with pytest.raises(Diverged, match="step 3"):
                require_range(3, length, 5, dtype)


@pytest.mark.parametrize(("dtype", "large"), [(torch.float32, 1e25), (torch.float64, 1e200)])
def test_a_gradient_whose_length_overflows_is_clipped_and_not_lost(dtype, large):
    gradients = torch.tensor([[3 * large, 4 * large], [0.3, 0.4]], dtype=dtype)
    assert gradients[0].norm().isinf()
    messages = torch.zeros_like(gradients)
    send(messages, gradients, messages[0], 0.0, 0.0, 2.0)
    torch.testing.assert_close(messages, torch.tensor([[1.2, 1.6], [0.3, 0.4]], dtype=dtype))


def test_a_gradient_that_is_no_number_stays_none():
    gradients = torch.tensor([[float("inf"), 1.0], [float("nan"), 1.0]])
    messages = torch.zeros_like(gradients)
    send(messages, gradients, messages[0], 0.0, 0.5, 2.0)
    assert not torch.isfinite(messages).all(dim=1).any()


def test_the_command_says_so(tmp_path, capsys):
    command = (
        "train --preset theorem2 --model logistic --dataset digits --schedule constant --learning-rate 1e30 --l2 1"
    )
    command += " --dtype float32 --measure none --rule cwtm --steps 20 --attack alie --json"
    assert main([*command.split(), "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "diverged"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 5)])
def test_the_square_of_what_is_sent_is_beyond_the_range(dtype, shape):
    """One number's length is itself, and does not overflow: its square does."""
    most = torch.finfo(dtype).max
    large = torch.full(shape, most / 4, dtype=dtype)
    assert send(torch.zeros_like(large), large, large[0], 0.0, 0.0, None) > most
