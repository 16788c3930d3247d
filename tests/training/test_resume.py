"""Runs that are resumed before their first checkpoint, in the middle of a step, or by other processes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.training.algorithm import Training
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.folder import Folder
from kappaguard.training.run import run
from tests.training.stopping import stop_after
from tests.training.test_distributed import launch

SMALL = Configuration(n=7, f=2, steps=8, batch=5, evaluate_every=3, rule="cwtm", attack="mimic", seed=4)


@pytest.fixture
def whole(tmp_path):
    """A run that nothing interrupted: its log, and where it ended."""
    folder = Folder.create(tmp_path, "whole", SMALL)
    training = build(SMALL)
    run(training, SMALL, folder)
    return folder.rows(), training.state.theta


def go_on(folder):
    again, read = Folder.existing(folder.path)
    training = build(read)
    run(training, read, again)
    return again.rows(), training.state.theta


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_run_that_was_killed_early_starts_again_with_a_clean_log(tmp_path, whole, checkpoint):
    """Killed, so that nothing is saved on the way out: what is left is the checkpoint of step 0, or nothing."""
    folder = Folder.create(tmp_path, "killed", SMALL)
    with pytest.raises(SystemExit):
        run(build(SMALL), SMALL, folder, stop_after(5, SystemExit))
    assert len(folder.rows()) == 7
    assert torch.load(folder.checkpoint, weights_only=True)["step"] == 0
    if not checkpoint:
        folder.checkpoint.unlink()
    rows, theta = go_on(folder)
    assert rows == whole[0]
    assert torch.equal(theta, whole[1])


def test_a_step_that_was_interrupted_is_done_again(tmp_path, whole, monkeypatch):
    folder = Folder.create(tmp_path, "interrupted", SMALL)
    right = Training._aggregate

    def interrupt(self, t):
        if t == 5:
            raise KeyboardInterrupt
        return right(self, t)

    monkeypatch.setattr(Training, "_aggregate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(build(SMALL), SMALL, folder)
    monkeypatch.undo()
    rows, theta = go_on(folder)
    assert rows == whole[0]
    assert torch.equal(theta, whole[1])


def test_ctrl_c_lets_the_step_end_and_stores_it_but_not_twice(tmp_path, whole, monkeypatch):
    right = Training._aggregate

    def interrupted(times):
        def aggregate(self, t):
            for _ in range(times if t == 5 else 0):
                signal.raise_signal(signal.SIGINT)
            return right(self, t)

        return aggregate

    for times, stored in ((1, 5), (2, 0)):
        folder = Folder.create(tmp_path, f"interrupted {times}", SMALL)
        monkeypatch.setattr(Training, "_aggregate", interrupted(times))
        with pytest.raises(KeyboardInterrupt):
            run(build(SMALL), SMALL, folder)
        monkeypatch.undo()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert torch.load(folder.checkpoint, weights_only=True)["step"] == stored
        rows, theta = go_on(folder)
        assert rows == whole[0]
        assert torch.equal(theta, whole[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"measure": "full", "measure_every": 1},
        {"measure": "full", "measure_every": 3},
        {"model": "quadratic", "measure": "full", "measure_every": 1, "algorithm": "gd", "schedule": "theorem"},
    ],
)
@pytest.mark.parametrize("last", [1, 4])
def test_a_resumed_run_logs_the_same_bytes_slopes_included(changes, last, tmp_path):
    """Interrupted after some steps: the slope of the next measured one is taken from a point before."""
    given = SMALL.with_values({**changes, "attack": "sf"})
    whole, folder = Folder.create(tmp_path, "whole", given), Folder.create(tmp_path, "parts", given)
    run(build(given), given, whole)
    with pytest.raises(KeyboardInterrupt):
        run(build(given), given, folder, stop_after(last))
    assert main(["train", "--resume", str(folder.path)]) == 0
    logs = [(each.path / "log.jsonl").read_bytes() for each in (whole, folder)]
    assert logs[0] == logs[1]
    assert logs[0].count(b'"slope"') == {1: 7, 3: 3}[given.measure_every]


def test_a_checkpoint_of_before_there_were_measured_points_is_read(tmp_path, whole):
    folder = Folder.create(tmp_path, "older", SMALL)
    run(build(SMALL), SMALL, folder)
    content = torch.load(folder.checkpoint, weights_only=True)
    del content["measured"]
    torch.save(content, folder.checkpoint)
    assert go_on(folder)[0] == whole[0]


def test_a_log_without_steps_is_refused_in_one_line(tmp_path, capsys):
    folder = Folder.create(tmp_path, "damaged", SMALL)
    run(build(SMALL), SMALL, folder)
    with (folder.path / "log.jsonl").open("a") as log:
        log.write('{"accuracy": 1.0}\n')
    (folder.path / "result.json").unlink()
    assert main(["train", "--resume", str(folder.path)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "line 13" in complaint


def test_infinity_is_written_as_null(tmp_path):
    folder = Folder.create(tmp_path, "infinite", SMALL)
    folder.log({"step": 1, "ratio": float("inf"), "eta": float("nan"), "rate": 0.5})
    folder.finish({"largest_ratio": float("inf"), "phases": {"rest": -float("inf")}})

    def refuse(name):
        raise AssertionError(name)

    text = (folder.path / "log.jsonl").read_text()
    assert json.loads(text, parse_constant=refuse) == {"step": 1, "ratio": None, "eta": None, "rate": 0.5}
    stored = json.loads((folder.path / "result.json").read_text(), parse_constant=refuse)
    assert stored == {"largest_ratio": None, "phases": {"rest": None}}


def test_the_number_of_processes_is_told_from_the_checkpoints(tmp_path):
    folder = Folder.create(tmp_path, "many", SMALL)
    assert folder.processes() is None
    folder.require_processes(1)
    for rank in range(3):
        (folder.path / f"checkpoint-{rank}of3-25.pt").touch()
    assert folder.processes() == 3
    folder.require_processes(3)
    for size in (1, 2):
        with pytest.raises(InputError, match="was run with 3 processes; resume with as many"):
            folder.require_processes(size)


def test_a_run_of_two_processes_goes_on_only_with_two(tmp_path, capsys):
    """Two processes: a run that diverges, one that loses a checkpoint and goes on, and one that was begun by one."""
    small, alone = (
        SMALL.with_values({"evaluate_every": 0, "measure": "full", "measure_every": 1}),
        Folder.create(tmp_path, "alone", SMALL),
    )
    run(build(SMALL), SMALL, alone)
    large = small.with_values({"learning_rate": 1e30, "l2": 1.0, "steps": 40, "attack": "alie"})
    script = Path(__file__).with_name("resuming.py")
    given = [json.dumps(each.to_json()) for each in (large, small)]
    for rank, process in enumerate(launch([str(script), *given, str(alone.path), str(tmp_path)])):
        printed, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint
        assert "alone-1 was run with 1 process; resume with as many" in printed
        if rank == 0:
            statuses, before, after = json.loads(printed.splitlines()[-1])
    assert statuses == ["diverged", "finished", "finished"]
    assert [row["step"] for row in before] == list(range(1, 9))
    assert before == after
    assert all("slope" in row for row in after[1:])
    folder = tmp_path / "small-1"
    log = (folder / "log.jsonl").read_text()
    (folder / "result.json").unlink()
    assert main(["train", "--resume", str(folder)]) == 2
    assert "was run with 2 processes; resume with as many" in capsys.readouterr().err
    assert (folder / "log.jsonl").read_text() == log
