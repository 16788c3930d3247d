"""Requests that are too large, and folders that something has damaged: one line, and exit code 2."""

from __future__ import annotations

import json
import pickle
import sys

import pytest
import torch

from kappaguard import cli
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.training.build import parts_of
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.group import Group
from kappaguard.training.distributed.training import DistributedTraining
from kappaguard.training.run import run
from tests.training.stopping import stop_after

RUN = ["train", "--steps", "3", "-n", "5", "-f", "1", "--batch", "4", "--rule", "cwtm", "--attack", "sf"]


def one_line(capsys) -> str:
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    return out + err


@pytest.fixture
def folder(tmp_path, capsys):
    """A run that was interrupted after its last step, before what came out was written down."""
    assert main([*RUN, "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    (path,) = tmp_path.iterdir()
    (path / "result.json").unlink()
    return path


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--steps", "99999999999999999999999", "steps must be less than 2^31"),
        ("--batch", "99999999999999", "batch must be less than 2^31"),
        ("--dimension", "99999999999999", "dimension must be less than 2^31"),
        ("--l2", "1e308", "l2 must be from 0 to 1e+30"),
        ("--sigma", "1e308", "sigma must be 0 or from 1e-30"),
        ("--heterogeneity", "1e-308", "heterogeneity must be 0 or from 1e-30"),
        ("--device", "meta", "no device is called 'meta'; there are auto, cpu, cuda, mps"),
    ],
)
def test_numbers_beyond_all_reason_are_refused(option, value, told, tmp_path, capsys):
    assert main([*RUN, option, value, "--out", str(tmp_path)]) == 2
    assert told in one_line(capsys)


def test_too_little_memory_is_told_in_one_line(tmp_path, capsys, monkeypatch):
    def build(configuration):
        raise MemoryError("Unable to allocate 7 PiB")

    monkeypatch.setattr(sys.modules["kappaguard.cli.train"], "_build", build)
    assert main([*RUN, "--out", str(tmp_path)]) == 2
    assert "not enough memory: Unable to allocate 7 PiB" in one_line(capsys)


@pytest.mark.parametrize(
    "given",
    [
        ["--learning-rate", "1e300"],
        ["--schedule", "drop:1:1e308"],
        ["--learning-rate", "1e38", "--evaluate-every", "1"],
    ],
)
def test_a_rate_beyond_float32_is_a_run_that_diverges(given, tmp_path, capsys):
    assert main([*RUN, *given, "--out", str(tmp_path)]) == 0
    assert "diverged after" in capsys.readouterr().out


@pytest.mark.parametrize("change", [{"messages": 5}, {"step": "x"}, {"least": None}, {"theta": None}, {"phases": 7}])
def test_a_checkpoint_with_wrong_values(change, folder, capsys):
    content = torch.load(folder / "checkpoint.pt", weights_only=True)
    torch.save({**content, **change}, folder / "checkpoint.pt")
    assert main(["train", "--resume", str(folder)]) == 2
    assert "checkpoint.pt is damaged" in one_line(capsys)


def test_a_checkpoint_with_a_few_other_bytes(folder, capsys):
    """torch reads it without a word; the check sums in the file tell."""
    path = folder / "checkpoint.pt"
    theta = torch.load(path, weights_only=True)["theta"].numpy().tobytes()[:64]
    content = path.read_bytes()
    assert content.count(theta) == 1
    path.write_bytes(content.replace(theta, bytes(byte ^ 64 for byte in theta)))
    torch.load(path, weights_only=True)
    assert main(["train", "--resume", str(folder)]) == 2
    assert "checkpoint.pt is damaged" in one_line(capsys)


@pytest.mark.parametrize("change", [{"seed": 2}, {"rule": "cwmed"}, {"learning_rate": 0.25}, {"dtype": "float64"}])
def test_a_run_does_not_go_on_with_other_settings(change, folder, capsys):
    path = folder / "configuration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert main(["train", "--resume", str(folder)]) == 2
    assert "configuration.json was changed" in one_line(capsys)


def test_a_run_may_go_on_with_its_data_elsewhere(folder, capsys):
    path = folder / "configuration.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"data_dir": "elsewhere", "device": "cpu"}))
    assert main(["train", "--resume", str(folder)]) == 0


def test_a_log_that_lacks_a_step(folder, capsys):
    path = folder / "log.jsonl"
    lines = [line for line in path.read_text().splitlines(keepends=True) if json.loads(line)["step"] != 2]
    path.write_text("".join(lines))
    assert main(["train", "--resume", str(folder)]) == 2
    assert "log.jsonl is damaged: step 2 is missing" in one_line(capsys)


def test_a_log_that_is_a_folder(folder, capsys):
    (folder / "log.jsonl").unlink()
    (folder / "log.jsonl").mkdir()
    assert main(["train", "--resume", str(folder)]) == 2
    assert "cannot read" in one_line(capsys)


def test_a_configuration_that_is_nested_without_end(folder, capsys):
    (folder / "configuration.json").write_text("[" * 100_000)
    assert main(["train", "--resume", str(folder)]) == 2
    assert "configuration.json is damaged" in one_line(capsys)


def test_a_run_without_a_checkpoint_says_that_it_begins_again(folder, capsys):
    (folder / "checkpoint.pt").unlink()
    assert main(["train", "--resume", str(folder)]) == 0
    assert "has no checkpoint: the run begins again" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no checkpoint", pickle.dumps({"step": 1})])
@pytest.mark.filterwarnings("ignore")
def test_a_file_that_is_no_checkpoint(content, folder, capsys):
    (folder / "checkpoint.pt").write_bytes(content)
    assert main(["train", "--resume", str(folder)]) == 2
    assert "checkpoint.pt is damaged" in one_line(capsys)


def test_a_log_that_is_no_text(folder, capsys):
    (folder / "log.jsonl").write_bytes(b"\xff\xfe\x00")
    assert main(["train", "--resume", str(folder)]) == 2
    assert "not UTF-8" in one_line(capsys)


def test_a_run_that_made_its_last_step_keeps_its_times(folder, capsys):
    assert main(["train", "--resume", str(folder)]) == 0
    before = json.loads((folder / "result.json").read_text())
    (folder / "result.json").unlink()
    assert main(["train", "--resume", str(folder)]) == 0
    after = json.loads((folder / "result.json").read_text())
    assert after["phases"] == before["phases"]
    assert after["phases"]["honest"] > 0
    assert after.pop("seconds") >= sum(before["phases"].values())
    before.pop("seconds")
    assert after == before


def test_resume_takes_no_other_folder(folder, tmp_path, capsys):
    assert main(["train", "--resume", str(folder), "--out", str(tmp_path / "other")]) == 2
    assert "take no other settings" in one_line(capsys)


def test_who_interrupts_is_told_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupted(training, configuration, folder, report, keep):
        return run(training, configuration, folder, stop_after(1))

    monkeypatch.setattr("kappaguard.training.run.run", interrupted)
    assert main([*RUN, "--out", str(tmp_path / "a b")]) == cli.INTERRUPTED
    assert "interrupted; to go on: kappaguard train --resume '" in one_line(capsys)
    monkeypatch.undo()
    (path,) = (tmp_path / "a b").iterdir()
    assert main(["train", "--resume", str(path)]) == 0
    assert json.loads((path / "result.json").read_text())["steps"] == 3


def test_the_checkpoint_of_another_run_is_told_as_such(folder, tmp_path, capsys):
    assert main([*RUN, "-n", "7", "--out", str(tmp_path / "other")]) == 0
    (other,) = (tmp_path / "other").iterdir()
    (folder / "checkpoint.pt").write_bytes((other / "checkpoint.pt").read_bytes())
    capsys.readouterr()
    assert main(["train", "--resume", str(folder)]) == 2
    assert "is a checkpoint of another run" in one_line(capsys)


def test_a_share_of_a_checkpoint_is_checked_as_the_whole_is(tmp_path):
    """As every process of several does it; one of them is enough to see."""
    configuration = Configuration(n=5, f=1, steps=3, batch=4, rule="cwtm", attack="sf")
    alone = Group(0, 1)
    training = DistributedTraining.of(*parts_of(configuration), alone)
    training.save(tmp_path)
    assert training.restore(tmp_path)
    (path,) = tmp_path.glob("checkpoint-*.pt")
    torch.save({**torch.load(path, weights_only=True), "messages": torch.zeros(2, 3)}, path)
    with pytest.raises(InputError, match="another run"):
        training.restore(tmp_path)
    path.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="is damaged"):
        training.restore(tmp_path)


def test_no_process_makes_room_for_all_messages(monkeypatch):
    """What is allocated before the first step, counted: with four processes, a quarter of the workers each."""
    made = []
    for name in ("zeros", "empty", "empty_like", "zeros_like"):
        real = getattr(torch, name)
        monkeypatch.setattr(
            torch, name, lambda *given, real=real, **more: made.append(real(*given, **more)) or made[-1]
        )
    group = Group(0, 4)
    configuration = Configuration(n=16, f=4, steps=3, model="quadratic", dimension=1000, rule="cwtm", attack="sf")
    training = DistributedTraining.of(*parts_of(configuration), group)
    assert training.state.messages.shape == (3, 1000)
    assert max(each.numel() for each in made) <= 3 * 1000
