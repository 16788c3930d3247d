"""A whole step on a device that is not the CPU: no tensor is ever where it should not be."""

from __future__ import annotations

import pytest
import torch

from kappaguard.rules.errors import InputError
from kappaguard.training import build as building
from kappaguard.training import messages
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from tests.training.elsewhere import Elsewhere, MixedDevices, NoDouble, pretended

BASE = {"n": 7, "f": 2, "steps": 3, "batch": 4, "clip": 1.0, "l2": 1e-3, "measure": "full", "measure_every": 1}
CASES = [
    {"rule": "nnm+cwtm", "attack": "alie"},
    {"rule": "nnm+krum", "attack": "foe"},
    {"rule": "gm", "attack": "adaptive"},
    {"rule": "gm", "attack": "foe"},
    {"rule": "multikrum", "attack": "lf"},
    {"rule": "cwmed", "attack": "mimic"},
    {"rule": "meamed", "attack": "sf", "algorithm": "gd"},
    {"rule": "bucketing(s=1)+mda", "attack": "none"},
    {"rule": "cwtm", "attack": "sf", "model": "quadratic"},
]


def test_devices_that_meet_are_noticed():
    with pretended() as device:
        there = torch.ones(3, device=device)
        assert isinstance(there, Elsewhere)
        assert there.device.type == "meta"
        assert float((there + there).sum()) == 6.0
        assert not isinstance(there.cpu(), Elsewhere)
        with pytest.raises(MixedDevices):
            there + torch.ones(3)
        with pytest.raises((TypeError, RuntimeError)):
            there.numpy()


@pytest.mark.parametrize("values", CASES, ids=lambda case: f"{case['rule']} {case['attack']}")
def test_a_step_makes_no_float64_where_there_is_none(values, monkeypatch):
    """As on Apple's GPUs: what needs float64 happens on the CPU."""
    monkeypatch.setattr(messages, "WITHOUT_DOUBLE", ("meta",))
    with pretended(double=False) as device:
        with pytest.raises(NoDouble):
            torch.ones(3, device=device).norm(dtype=torch.float64)
        monkeypatch.setattr(building, "device_named", lambda name: device)
        training = build(Configuration().with_values({**BASE, **values}))
        for _ in range(2):
            training.step()
        training.problem.evaluate(training.state.theta)
        assert isinstance(training.state.theta, Elsewhere)


def test_in_float64_auto_is_the_cpu_where_the_gpu_has_none(monkeypatch):
    monkeypatch.setattr(building, "device_named", lambda name: torch.device("mps"))
    configuration = Configuration().with_values({**BASE, "dtype": "float64", "model": "quadratic", "attack": "sf"})
    assert build(configuration).state.theta.device.type == "cpu"
    with pytest.raises(InputError, match="mps has no float64"):
        build(configuration.with_values({"device": "mps"}))


@pytest.mark.parametrize("values", CASES, ids=lambda case: f"{case['rule']} {case['attack']}")
def test_a_step_stays_on_its_device_and_gives_the_same(values, monkeypatch):
    configuration = Configuration().with_values({**BASE, **values})
    alone = build(configuration.with_values({"device": "cpu"}))
    expected = [alone.step() for _ in range(2)]
    with pretended() as device:
        monkeypatch.setattr(building, "device_named", lambda name: device)
        training = build(configuration)
        rows = [training.step() for _ in range(2)]
        training.problem.evaluate(training.state.theta)
        assert isinstance(training.state.theta, Elsewhere)
        assert isinstance(training.state.messages, Elsewhere)
        ended = training.state.theta.cpu()
    torch.testing.assert_close(ended, alone.state.theta, rtol=2e-3, atol=1e-5)
    assert [row["batch_loss"] for row in rows] == pytest.approx([row["batch_loss"] for row in expected], rel=1e-4)


def test_the_papers_network_for_cifar_stays_on_its_device():
    from kappaguard.training.models.architectures import network
    from kappaguard.training.models.layer import Pass

    with pretended() as device:
        model = network("cnn-cifar", (3, 32, 32), 10)
        theta = model.initial(1).to(device, torch.float32)
        images, labels = torch.zeros((4, 3, 32, 32), device=device), torch.zeros(4, dtype=torch.int64, device=device)
        out = torch.empty((2, model.dimension), device=device)
        losses = model.gradients(
            theta, images, labels, out, Pass(2, uniform=lambda shape: torch.ones(shape, device=device))
        )
        assert isinstance(losses, Elsewhere)
        assert isinstance(model.statistics(theta)[0][0], Elsewhere)
