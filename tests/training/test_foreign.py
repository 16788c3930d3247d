"""Rules of users in training: they are handed what ``check`` and ``search`` hand them, and faults are one line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from kappaguard.cli import main
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration

RULES = """
import numpy as np
import torch


def rule(x, f):
    assert type(x) is np.ndarray and x.dtype == np.float64
    m = np.median(x, axis=0)
    w = 1/(1+np.linalg.norm(x-m, axis=1))
    return (w[:, None]*x).sum(axis=0)/w.sum()


class Mean(torch.nn.Module):
    def forward(self, x):
        assert isinstance(x, torch.Tensor)
        return x.mean(dim=0)


def shape(x):
    return x


def late(x):
    if np.linalg.norm(x[0]) > 0:
        raise RuntimeError("too late")
    return x[0]
"""
QUICK = ["train", "--steps", "3", "--evaluate-every", "0"]


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(RULES)
    return path


def weighted(x):
    """The same rule by loops."""
    middle = np.array([sorted(column)[len(x) // 2] for column in x.T])
    weights = [1 / (1 + float(np.sqrt(sum((row - middle) ** 2)))) for row in x]
    return sum(weight * row for weight, row in zip(weights, x, strict=True)) / sum(weights)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("attack", ["foe", "sf"])
def test_a_rule_in_numpy_trains(rules, attack, dtype):
    training = build(Configuration(rule=f"{rules}:rule", n=7, f=2, attack=attack, steps=3, dtype=dtype))
    for _ in range(3):
        before = training.state.theta.clone()
        training.step()
        moved = (before - training.state.theta).double().numpy() / 0.5
        expected = weighted(training.state.messages.double().numpy())
        tolerance = 1e-4 if dtype == "float32" else 1e-9
        np.testing.assert_allclose(moved, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
    assert training.state.theta.dtype == getattr(torch, dtype)


@pytest.mark.parametrize("name", ["rule", "Mean"])
def test_the_command_takes_it(rules, name, tmp_path, capsys):
    assert main([*QUICK, "--rule", f"{rules}:{name}", "--attack", "sf", "--out", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"


def at(file, text):
    """The number of the line with a text."""
    return next(number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize(("name", "named"), [("shape", "returned shape"), ("late", "too late")])
@pytest.mark.parametrize("attack", ["none", "alie"])
def test_a_fault_is_one_line_and_exit_code_2(rules, name, named, attack, tmp_path, capsys):
    assert main([*QUICK, "--rule", f"{rules}:{name}", "--attack", attack, "--out", str(tmp_path / "out")]) == 2
    *trace, complaint = capsys.readouterr().err.splitlines()
    # where the user's code raised, its own traceback comes first, and nothing of ours
    assert [line.strip() for line in trace if line.startswith("  File")] == (
        [f'File "{rules}", line {at(rules, "too late")}, in late'] if name == "late" else []
    )
    assert named in complaint
    assert "step 1" in complaint
