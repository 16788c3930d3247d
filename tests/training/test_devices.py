"""A whole step on a device that is not the CPU: no tensor is ever where it should not be."""

from __future__ import annotations

import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.training import build as building
from kappaguard.training import messages
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.models.architectures import network
from kappaguard.training.models.layer import Pass
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
    {"rule": "nnm+gm(steps=3, nu=0.1)", "attack": "foe(search='line16')"},
    {"rule": "krum", "attack": "lf(mean=True)"},
    {"rule": "cwtm", "attack": "mimic(rechoose=True, warmup=1)"},
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


@pytest.mark.parametrize(("name", "shape"), [("cnn-mnist", (1, 28, 28)), ("cnn-cifar", (3, 32, 32))])
def test_the_papers_networks_elsewhere_give_the_gradients_of_the_cpu(name, shape):
    """On a GPU one batch of all workers, here a loop or the compiled block: other ways to the same numbers."""
    generator = torch.Generator().manual_seed(3)
    model = network(name, shape, 10)
    theta, images = model.initial(1).float(), torch.randn((6, *shape), generator=generator)
    labels = torch.randint(0, 10, (6,), generator=generator)

    def gradients(device):
        out = torch.empty((3, model.dimension), device=device)
        run = Pass(3, uniform=lambda wanted: torch.ones(wanted, device=device))
        losses = model.gradients(theta.to(device), images.to(device), labels.to(device), out, run)
        return losses, out, model.statistics(theta.to(device))[:1]

    expected = gradients(torch.device("cpu"))
    with pretended() as device:
        losses, out, statistics = gradients(device)
        assert isinstance(losses, Elsewhere)
        assert all(isinstance(each, Elsewhere) for pair in statistics for each in pair)
        found = losses.cpu(), out.cpu()
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1], rtol=1e-3, atol=1e-5)


def convolutions_backward(workers, monkeypatch):
    """How many calls of torch's gradient of a convolution a step of so many workers takes elsewhere."""
    calls, real = [], torch.ops.aten.convolution_backward
    with pretended() as device, monkeypatch.context() as counting:
        counting.setattr(torch.ops.aten, "convolution_backward", lambda *given: calls.append(1) or real(*given))
        model = network("cnn-mnist", (1, 16, 16), 10)
        theta = model.initial(1).to(device, torch.float32)
        images = torch.zeros((workers, 1, 16, 16), device=device)
        labels = torch.zeros(workers, dtype=torch.int64, device=device)
        model.gradients(theta, images, labels, torch.empty((workers, model.dimension), device=device), Pass(workers))
    return len(calls)


def test_no_worker_is_computed_on_its_own_elsewhere(monkeypatch):
    """A GPU gets all workers in one call: as many calls for seven workers as for two."""
    assert convolutions_backward(7, monkeypatch) == convolutions_backward(2, monkeypatch) > 0
