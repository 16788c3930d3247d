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

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.cloud import aggregate, embedded, require_shardable
from kappaguard.training.distributed.group import Group

BASE = {
    "n": 9,
    "f": 2,
    "steps": 6,
    "measure_every": 1,
    "batch": 4,
    "dtype": "float64",
    "evaluate_every": 0,
    "clip": 1.0,
    "l2": 1e-3,
}
QUADRATIC = {"model": "quadratic", "measure": "full", "clip": None}
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
    {"rule": "nnm+cwtm", "attack": "foe", **QUADRATIC},
    {"rule": "gm", "attack": "none", "algorithm": "gd", "schedule": "theorem", **QUADRATIC},
    {"rule": "cwmed", "attack": "alie", "schedule": "theorem", "sigma": 0.3, **QUADRATIC},
    {"rule": "nnm+krum", "attack": "sf", "measure": "full", "measure_every": 2},
    {"rule": "cwtm", "attack": "lf", "measure": "full", "algorithm": "gd", "clip": None},
    {"rule": "cwtm", "attack": "sf", "measure": "none"},
    {"rule": "monna", "attack": "sf"},
    {"rule": "nnm+gm(steps=3, nu=0.1)", "attack": "foe(search='line16')", "split": "dirichlet-workers"},
    {"rule": "bucketing+cwtm", "attack": "alie(search='line16')"},
    {"rule": "cwtm", "attack": "lf(mean=True)"},
    {"rule": "krum", "attack": "lf(mean=True)", "algorithm": "gd"},
    {"rule": "bucketing+krum", "attack": "mimic(rechoose=True, warmup=2)"},
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
        alone = build(Configuration().with_values(values))
        rows = [alone.step() for _ in range(values["steps"])]
        torch.testing.assert_close(result["theta"], alone.state.theta, rtol=1e-7, atol=1e-9)
        if alone.state.output is not None:
            torch.testing.assert_close(result["output"], alone.state.output, rtol=1e-7, atol=1e-9)
        for ours, theirs in zip(json.loads(result["rows"]), rows, strict=True):
            assert list(ours) == list(theirs)
            for key, value in theirs.items():
                tolerance = 1e-9 if key == "batch_loss" else 1e-5
                assert ours[key] == pytest.approx(value, rel=tolerance, abs=1e-12), (values, key)


def run_on_two(arguments: list[str]) -> list[tuple[int, str, str]]:
    """Exit codes and what was printed, of a command as two processes."""
    processes = launch(["-m", "kappaguard", *arguments])
    printed = [process.communicate(timeout=120) for process in processes]
    return [(process.returncode, *texts) for process, texts in zip(processes, printed, strict=True)]


@pytest.mark.parametrize(
    "settings",
    [
        ["--preset", "theorem2", "--rule", "cwtm", "--attack", "foe", "--steps", "4"],
        ["--attack", "sf", "--steps", "4", "--evaluate-every", "2", "--measure", "full", "--dtype", "float64"],
    ],
)
def test_two_processes_print_and_log_what_one_does(settings, tmp_path, capsys):
    """One JSON object, by process 0; quadratics and full measurement as anywhere."""
    assert main(["train", *settings, "--json", "--out", str(tmp_path / "one")]) == 0
    one = json.loads(capsys.readouterr().out)
    (first, second) = run_on_two(["train", *settings, "--json", "--out", str(tmp_path / "two")])
    assert first[0] == second[0] == 0, first[2] + second[2]
    assert second[1] == ""
    two = json.loads(first[1])
    assert (one.pop("processes"), two.pop("processes")) == (1, 2)
    assert Path(two["folder"]).name == Path(one["folder"]).name
    logs = [
        [json.loads(line) for line in (Path(each["folder"]) / "log.jsonl").read_text().splitlines()]
        for each in (one, two)
    ]
    assert [list(row) for row in logs[0]] == [list(row) for row in logs[1]]
    for theirs, ours in zip(*logs, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-12)
    assert any("slope" in row for row in logs[1])
    stored = {path.name for path in Path(one["folder"]).iterdir()} - {"checkpoint.pt"}
    assert stored <= {path.name for path in Path(two["folder"]).iterdir()}
    for each in (one, two):
        for key in ("folder", "seconds", "phases"):
            each.pop(key)
    assert one.keys() == two.keys()
    assert two.pop("configuration") == one.pop("configuration")
    for key, value in one.items():
        assert two[key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value), key


def test_what_cannot_be_spread_is_refused_in_one_line(tmp_path):
    slack = ["--preset", "theorem1", "--rule", "slack", "--kappa", "1", "--attack", "none"]
    few = ["-n", "1", "-f", "0", "--rule", "average", "--attack", "none"]
    for settings, named in ((slack, "slack cannot be spread"), (few, "too few for 2 processes")):
        for code, _, complaint in run_on_two(["train", *settings, "--steps", "2", "--out", str(tmp_path)]):
            assert code == 2
            assert complaint.count("\n") == 1
            assert named in complaint


def test_a_folder_that_cannot_be_made_is_one_line_from_every_process(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for code, _, complaint in run_on_two(["train", "--steps", "2", "--out", str(tmp_path / "file")]):
        assert code == 2
        assert complaint.count("\n") == 1
        assert "cannot write to" in complaint


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


@pytest.mark.parametrize("far", [1.0, 1e3, 1e6])
def test_points_with_given_distances_keep_what_is_near_when_others_are_far(far):
    """Two equal vectors far away, one in the middle of two others, and the rest anywhere."""
    x = np.random.default_rng(1).standard_normal((9, 30))
    x[:2] = x[0] * far
    x[4] = (x[2] + x[3]) / 2
    pairs = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    y = embedded(pairs)
    again = ((y[:, None] - y[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(again[2:, 2:], pairs[2:, 2:], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(again, pairs, rtol=1e-9, atol=1e-12)
    rule = require_shardable(parse("gm", f=2))
    np.testing.assert_allclose(aggregate(rule, x, lambda partial: partial), rule(x), rtol=1e-7, atol=1e-8)


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
