"""A bound that is crossed is kept as a run that can be carried out again; played with a bound that is wrong."""

from __future__ import annotations

import json

import pytest

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.training.theorems.constants import Constants
from kappaguard.training.theorems.crossing import replay

COMMAND = ["reproduce", "theorem1", "--steps", "5", "--rule", "cwtm", "--rule", "nnm+cwtm", "--attack", "foe"]


@pytest.fixture
def wrong(monkeypatch):
    """Theorem 1 with a hundredth of its right-hand side."""
    right = Constants.theorem_1
    monkeypatch.setattr(Constants, "theorem_1", lambda self, weight=4.0: right(self, weight) / 100)


@pytest.fixture
def crossed(wrong, tmp_path, capsys):
    """The folders that a sweep under the wrong bound leaves."""
    assert main([*COMMAND, "--out", str(tmp_path)]) == 1
    folders = sorted((tmp_path / "crossed").iterdir())
    printed = capsys.readouterr().out
    assert len(folders) == 2
    assert all(f"kappaguard train --replay {folder}" in printed for folder in folders)
    return folders


def test_a_crossed_bound_is_kept_and_replayed(crossed, capsys):
    for folder in crossed:
        kept = json.loads((folder / "crossing.json").read_text())
        assert kept["left"] > kept["stated"] > 0
        assert len((folder / "log.jsonl").read_text().splitlines()) == 5
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert main(["train", "--replay", str(folder)]) == 1
        assert "all 5 steps came out again" in capsys.readouterr().out
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_crossing_is_kept_once(crossed, tmp_path, capsys):
    """The same again keeps nothing new; another seed does."""
    assert main([*COMMAND, "--out", str(tmp_path)]) == 1
    assert sorted((tmp_path / "crossed").iterdir()) == crossed
    printed = capsys.readouterr().out
    assert all(f"kappaguard train --replay {folder}" in printed for folder in crossed)
    assert main([*COMMAND, "--seeds", "2", "--out", str(tmp_path)]) == 1
    assert len(list((tmp_path / "crossed").iterdir())) == 4


def test_with_the_right_bound_the_same_run_crosses_nothing(crossed, monkeypatch, capsys):
    monkeypatch.undo()
    assert main(["train", "--replay", str(crossed[0])]) == 0
    assert "is not crossed" in capsys.readouterr().out


def test_under_the_right_bound_nothing_is_kept(tmp_path):
    assert main([*COMMAND, "--out", str(tmp_path)]) == 0
    assert not (tmp_path / "crossed").exists()


def test_a_log_that_was_changed_does_not_come_out_again(crossed, capsys):
    log = crossed[0] / "log.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    rows[2]["gradient_squared"] *= 1 + 1e-6
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = replay(crossed[0])
    assert (found.agrees, found.differs) == (False, 3)
    log.write_text("".join(json.dumps(row) + "\n" for row in rows[:2]))
    assert replay(crossed[0]).differs == 3
    assert main(["train", "--replay", str(crossed[0])]) == 2
    assert "step 3" in capsys.readouterr().err


def test_what_cannot_be_replayed_is_refused(crossed, tmp_path, capsys):
    (crossed[0] / "crossing.json").write_text("{}")
    with pytest.raises(InputError, match="damaged"):
        replay(crossed[0])
    (crossed[0] / "crossing.json").unlink()
    with pytest.raises(InputError, match="no crossing"):
        replay(crossed[0])
    for arguments in (["--replay", str(tmp_path / "none")], ["--replay", str(crossed[1]), "--steps", "3"]):
        assert main(["train", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_run_that_cannot_be_judged_leaves_the_others_in_the_table(tmp_path, capsys, monkeypatch):
    """The premise gamma <= 1/L fails in one of two runs; the other one still gets its line."""
    from kappaguard.training.theorems import margins

    right = margins.margin

    def judge(configuration, rows, result):
        if configuration.rule == "cwtm":
            raise InputError("the step size is larger than 1/L")
        return right(configuration, rows, result)

    monkeypatch.setattr(margins, "margin", judge)
    assert main([*COMMAND, "--out", str(tmp_path)]) == 0
    (stored,) = tmp_path.glob("theorem1-*.md")
    printed = stored.read_text()
    assert "cannot be said: the step size is larger than 1/L" in printed
    assert "nnm+cwtm" in printed
    assert printed.count("| yes |") == 1
