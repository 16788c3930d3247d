"""Two gloo processes walk the same way as one, and survive the loss of one of them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from kappaguard.rules.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.cloud import aggregate, require_shardable
from kappaguard.training.distributed.group import Group

BASE = {"n": 9, "f": 2, "steps": 6, "batch": 4, "dtype": "float64", "evaluate_every": 0, "clip": 1.0, "l2": 1e-3}
CASES = [
    {"rule": "nnm+cwtm", "attack": "alie"},
    {"rule": "gm", "attack": "foe"},
    {"rule": "bucketing+krum", "attack": "sf"},
    {"rule": "nnm+mda", "attack": "lf"},
    {"rule": "meamed", "attack": "mimic"},
    {"rule": "nnm+gm", "attack": "adaptive", "algorithm": "gd"},
    {"rule": "clipping(c=0.3)+cwtm", "attack": "foe(positive=True)", "steps": 1},
    {"rule": "arc+krum", "attack": "alie"},
    {"rule": "nnm+arc+cwmed", "attack": "mimic"},
    {"rule": "centered_clipping(tau=0.2, iterations=3)", "attack": "sf"},
]


def environment(rank: int, port: int) -> dict[str, str]:
    """What torchrun tells its processes."""
    given = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    threads = {"OMP_NUM_THREADS": "1", "KAPPAGUARD_THREADS": "1"}
    return {**os.environ, **threads, **{key: str(value) for key, value in given.items()}}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def launch(command: list[str]) -> list[subprocess.Popen[str]]:
    """The same command as two processes of one run."""
    port = free_port()
    return [
        subprocess.Popen(
            [sys.executable, *command],
            env=environment(rank, port),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def test_two_processes_walk_the_same_way_as_one(tmp_path):
    cases = [{**BASE, **case} for case in CASES]
    script = Path(__file__).with_name("ranks.py")
    processes = launch([str(script), json.dumps(cases), str(tmp_path / "results.pt")])
    for process in processes:
        _, complaint = process.communicate(timeout=300)
        assert process.returncode == 0, complaint
    results = torch.load(tmp_path / "results.pt", weights_only=True)
    for values, result in zip(cases, results, strict=True):
        alone = build(Configuration().with_values({**values, "measure_every": 1}))
        rows = [alone.step() for _ in range(values["steps"])]
        torch.testing.assert_close(result["theta"], alone.state.theta, rtol=1e-7, atol=1e-9)
        if alone.state.output is not None:
            torch.testing.assert_close(result["output"], alone.state.output, rtol=1e-7, atol=1e-9)
        for ours, theirs in zip(json.loads(result["rows"]), rows, strict=True):
            assert ours["kappa_hat"] == pytest.approx(theirs["kappa_hat"], rel=1e-5, abs=1e-12)
            assert ours["batch_loss"] == pytest.approx(theirs["batch_loss"], rel=1e-9)


def test_a_lost_process_ends_the_run_with_a_checkpoint_to_go_on_from(tmp_path):
    settings = ["--attack", "sf", "--rule", "nnm+krum", "--dtype", "float64", "--steps", "80", "--evaluate-every", "0"]
    first, second = launch(["-m", "kappaguard", "train", *settings, "--out", str(tmp_path)])
    log = tmp_path / "digits-nnm-krum-sf-seed1-1" / "log.jsonl"
    while first.poll() is None and (not log.exists() or log.read_text().count("\n") < 40):
        time.sleep(0.05)
    second.kill()
    second.communicate()
    _, complaint = first.communicate(timeout=120)
    assert first.returncode == 1
    assert complaint.count("\n") == 1
    assert f"--resume {log.parent}" in complaint
    assert list(log.parent.glob("checkpoint-0of2-*.pt"))
    for process in launch(["-m", "kappaguard", "train", "--resume", str(log.parent)]):
        _, complaint = process.communicate(timeout=300)
        assert process.returncode == 0, complaint
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["step"] for row in rows] == list(range(1, 81))
    configuration = Configuration().with_values(json.loads((log.parent / "configuration.json").read_text()))
    alone = build(configuration)
    for _ in range(configuration.steps):
        last = alone.step()
    assert rows[-1]["batch_loss"] == pytest.approx(last["batch_loss"], rel=1e-6)


@pytest.mark.parametrize(
    "name", ["cwmed", "krum", "multikrum", "gm", "mda", "nnm+gm", "nnm+krum", "caf", "smea", "average"]
)
def test_shards_of_a_rule_are_the_rule(name):
    """Two shards in one process: the sum over them is played by a loop over both."""
    x = np.random.default_rng(0).standard_normal((9, 11))
    x[:2] += 40 if name == "gm" else 3
    rule = require_shardable(parse(name, f=2))
    shards = [np.ascontiguousarray(x[:, :4]), np.ascontiguousarray(x[:, 4:])]
    pieces = []
    for shard in shards:
        seen: list[np.ndarray] = []

        def total(partial, seen=seen, shard=shard):
            # for rules that ask once, for the distances of their input
            assert not seen
            seen.append(partial)
            return sum(((part[:, None] - part[None]) ** 2).sum(axis=-1) for part in shards)

        pieces.append(aggregate(rule, shard, total))
    np.testing.assert_allclose(np.concatenate(pieces), rule(x), rtol=1e-8, atol=1e-9)


def test_a_rule_of_another_library_is_refused():
    with pytest.raises(InputError, match="cannot be spread"):
        require_shardable(lambda x: x.mean(axis=0))


@pytest.mark.parametrize("name", ["clipping(c=2.5)+cwtm", "arc+cwmed", "centered_clipping(tau=1.5)", "arc+average"])
def test_lengths_of_shards_add_up(name):
    """Four coordinates are here, the other seven elsewhere, of which only the squared lengths are told."""
    x = np.random.default_rng(0).standard_normal((9, 11)) * np.arange(1, 10)[:, None]
    rule = require_shardable(parse(name, f=2))

    def total(partial):
        return partial + (x[:, 4:] ** 2).sum(axis=1)

    np.testing.assert_allclose(aggregate(rule, np.ascontiguousarray(x[:, :4]), total), rule(x)[:4], rtol=1e-9)


def test_parts_cover_everything_once():
    for size in (1, 2, 3, 7):
        covered = [place for rank in range(size) for place in Group(rank, size).part(10)]
        assert covered == list(range(10))
