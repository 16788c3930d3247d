"""Training in a pretended nccl group: collectives get tensors of the device, every process has a GPU of its own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from kappaguard.rules.base.errors import InputError
from kappaguard.training import build as building
from kappaguard.training.build import build, device_named, parts_of
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed import group as groups
from kappaguard.training.distributed.training import DistributedTraining
from tests.training.elsewhere import DEVICE, Elsewhere
from tests.training.nccl import Nccl, NotOnDevice

BASE = {"n": 7, "f": 2, "steps": 2, "batch": 4, "clip": 1.0, "l2": 1e-3, "measure": "full", "measure_every": 1}
CASES = [
    {"rule": "nnm+cwtm", "attack": "alie"},
    {"rule": "nnm+krum", "attack": "foe(search='line16')"},
    {"rule": "gm", "attack": "foe"},
    {"rule": "gm(steps=3, nu=0.1)", "attack": "sf"},
    {"rule": "nnm+gm", "attack": "sf"},
    {"rule": "multikrum", "attack": "lf"},
    {"rule": "cwmed", "attack": "lf(mean=True)"},
    {"rule": "cwmed", "attack": "mimic"},
    {"rule": "meamed", "attack": "sf", "algorithm": "gd"},
    {"rule": "arc+krum", "attack": "alie"},
]


@pytest.mark.parametrize("values", CASES, ids=lambda case: f"{case['rule']} {case['attack']}")
def test_two_processes_with_gpus_walk_the_same_way_as_one_cpu(values, monkeypatch):
    given = Configuration().with_values({**BASE, **values})
    alone = build(given.with_values({"device": "cpu"}))
    for _ in range(given.steps):
        alone.step()
    monkeypatch.setattr(building, "device_named", lambda name: DEVICE)

    def work(group):
        training = DistributedTraining.of(*parts_of(given), group)
        for _ in range(given.steps):
            training.step()
        assert isinstance(training.state.messages, Elsewhere)
        return training.state.theta.cpu()

    for theta in Nccl().run(work, monkeypatch):
        torch.testing.assert_close(theta, alone.state.theta, rtol=2e-3, atol=1e-5)


def test_the_pretended_group_refuses_what_nccl_refuses(monkeypatch):
    def wrong(group):
        torch.distributed.all_reduce(torch.ones(3))

    with pytest.raises(NotOnDevice):
        Nccl().run(wrong, monkeypatch)


def test_sums_of_numpy_arrays_travel_over_the_device_and_come_back(monkeypatch):
    def work(group):
        found = group.total(np.arange(3.0) + group.rank)
        assert isinstance(found, np.ndarray)
        here = group.total(torch.ones(2))
        assert not isinstance(here, Elsewhere)
        return found.tolist(), here.tolist()

    assert Nccl().run(work, monkeypatch) == [([1.0, 3.0, 5.0], [2.0, 2.0])] * 2


@pytest.fixture
def gpus(monkeypatch):
    """A machine with two GPUs, on which torchrun started two processes, this one the second."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch, "empty", lambda *_, **__: None)
    for name, value in {"WORLD_SIZE": 2, "RANK": 1, "LOCAL_RANK": 1, "MASTER_ADDR": "x", "MASTER_PORT": 1}.items():
        monkeypatch.setenv(name, str(value))
    return monkeypatch


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_every_process_has_a_gpu_of_its_own(gpus, name):
    assert device_named(name) == torch.device("cuda:1")
    gpus.setenv("LOCAL_RANK", "2")
    with pytest.raises(InputError, match="2 GPUs are too few"):
        device_named(name)
    gpus.delenv("WORLD_SIZE")
    assert device_named("cuda") == torch.device("cuda")


def test_a_group_on_gpus_is_of_nccl_and_set_to_its_device(gpus):
    begun, chosen = [], []
    gpus.setattr(torch.distributed, "init_process_group", begun.append)
    gpus.setattr(torch.distributed, "get_rank", lambda: 1)
    gpus.setattr(torch.distributed, "get_world_size", lambda: 2)
    gpus.setattr(torch.cuda, "set_device", chosen.append)
    assert groups.join("cuda:1") == groups.Group(1, 2, "cuda:1")
    assert groups.join("cpu") == groups.Group(1, 2, "cpu")
    assert begun == ["nccl", "gloo"]
    assert chosen == ["cuda:1"]
