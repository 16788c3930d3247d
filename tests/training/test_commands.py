"""``kappaguard train`` and ``kappaguard reproduce`` as users meet them."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
import torch

from kappaguard.cli import main
from kappaguard.reports.experiments.table import table
from kappaguard.search.ledger import ledger as finished_cells
from kappaguard.training.build import build
from kappaguard.training.configuration import Configuration
from kappaguard.training.reproduce.experiments import EXPERIMENTS, cells_of
from kappaguard.training.reproduce.ledger import CellStore
from kappaguard.training.reproduce.paper import ATTACKS, TABLE_2, paper_number

QUICK = ["train", "--attack", "sf", "--steps", "6", "--evaluate-every", "3"]


def test_a_run_is_stored_with_its_resolved_configuration(tmp_path, capsys):
    assert main([*QUICK, "--alpha", "0.3", "--out", str(tmp_path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (folder,) = tmp_path.iterdir()
    assert answer["folder"] == str(folder)
    stored = json.loads((folder / "configuration.json").read_text())
    assert stored == answer["configuration"]
    assert (stored["alpha"], stored["steps"], stored["rule"]) == (0.3, 6, "nnm+cwtm")
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows if "rate" in row] == [1, 2, 3, 4, 5, 6]
    assert [row["step"] for row in rows if "accuracy" in row] == [0, 3, 6]
    assert {"ratio", "error_squared", "drift"} <= rows[1].keys()
    assert (folder / "split.svg").read_text().startswith("<svg")


def test_a_second_run_gets_its_own_folder_and_a_finished_one_is_left_as_it_is(tmp_path, capsys):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    one, two = sorted(tmp_path.iterdir())
    assert (one / "log.jsonl").read_text() == (two / "log.jsonl").read_text()
    capsys.readouterr()
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in one.iterdir()}
    assert main(["train", "--resume", str(one)]) == 0
    printed = capsys.readouterr()
    assert "finished after 6 steps" in printed.out
    assert "nothing is run again" in printed.err
    assert main(["train", "--resume", str(one), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 6
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in one.iterdir()} == before
    (one / "result.json").write_text("[]")
    assert main(["train", "--resume", str(one)]) == 2
    assert "result.json is damaged" in capsys.readouterr().err


def test_a_run_leaves_a_picture_and_a_table_of_its_steps(tmp_path):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    table = list(csv.DictReader((folder / "run.csv").read_text().splitlines()))
    assert [int(line["step"]) for line in table] == sorted({row["step"] for row in rows})
    for name in ("accuracy", "test_loss", "batch_loss", "ratio"):
        logged = {row["step"]: row[name] for row in rows if row.get(name) is not None}
        assert logged
        assert {int(line["step"]): float(line[name]) for line in table if line[name]} == pytest.approx(logged)
    picture = ElementTree.fromstring((folder / "run.svg").read_text())
    lines = [each for each in picture.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 4
    result = json.loads((folder / "result.json").read_text())
    assert result["images"] == len(build(Configuration()).problem.images)
    assert re.fullmatch("[0-9a-f]{12}", result["code"])


def test_progress_is_told_in_lines_where_there_is_no_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kappaguard.cli.progress.EVERY", 0.0)
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("step 1 of 6, ")
    assert "loss" in lines[0]
    assert "accuracy" in lines[-1]
    monkeypatch.setattr("kappaguard.cli.progress.EVERY", 3600.0)
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def test_tensorboard_gets_every_number_of_the_log(tmp_path, monkeypatch, capsys):
    written = []

    class SummaryWriter:
        def __init__(self, folder):
            Path(folder).mkdir()

        def add_scalar(self, name, value, step):
            written.append((name, step, value))

        def close(self):
            written.append("closed")

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    assert main([*QUICK, "--tensorboard", "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    expected = [(name, row["step"], value) for row in rows for name, value in row.items() if name != "step"]
    assert written == [*expected, "closed"]
    assert (folder / "tensorboard").is_dir()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    capsys.readouterr()
    assert main([*QUICK, "--tensorboard", "--out", str(tmp_path / "other")]) == 2
    assert "pip install 'kappaguard[tensorboard]'" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_the_theorem_presets_record_what_the_theorems_speak_of(tmp_path):
    assert main(["train", "--preset", "theorem2", "--steps", "3", "--attack", "sf", "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    wanted = {"loss", "gradient_squared", "heterogeneity_squared", "noise_squared", "ratio", "error_squared"}
    assert all(wanted | {"drift", "deviation"} <= row.keys() for row in rows)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "--preset", "mnits"], "did you mean mnist"),
        (["train", "-f", "9"], "f < n/2"),
        (["train", "--rule", "krumm"], "krumm"),
        (["train", "--attack", "alieee"], "did you mean alie"),
        (["train", "--attack", "nope"], "alie, foe, sf, mimic, adaptive, none, lf"),
        (["train", "--seed", str(2**63)], "2^63"),
        (["train", "--clip", "much"], "much"),
        (["train", "--clip", "-1"], "clip"),
        (["train", "--model", "quadratic", "--condition", "0.5"], "at least 1"),
        (["train", "--preset", "theorem1", "--dimension", str(2**31 - 1)], "not enough memory"),
        (["train", "--kappa", "0"], "kappa"),
        (["train", "--kappa", "2"], "schedule theorem"),
        (["train", "--smoothness", "3"], "of quadratics, and the model is"),
        (["train", "--model", "quadratic", "--batch", "3"], "quadratics have no data"),
        (["train", "--preset", "theorem2", "--l2", "0.1"], "quadratics have no data"),
        (["train", "--preset", "theorem2", "--momentum", "0.5"], "a momentum of its own"),
        (["train", "--algorithm", "gd", "--batch", "3"], "exact gradients"),
        (["train", "--split", "iid", "--alpha", "3"], "the split is iid"),
        (["train", "-f", "0", "--attack", "alie"], "no Byzantine workers"),
        (["train", "--preset", "theorem1", "--rule", "slack", "--kappa", "1", "--attack", "foe"], "adversary itself"),
        (["train", "--measure", "none", "--measure-every", "3"], "measure is none"),
        (["train", "--data-dir", "."], "digits come with scikit-learn"),
        (["train", "--dataset", "mnist", "--data-dir", "/no/such/folder"], "/no/such/folder"),
        (["train", "--model", "cnn-mnist"], "16 x 16"),
        (["train", "--schedule", "theorem", "--rule", "mda"], "mda"),
        (["train", "--resume", "/no/such/run", "--steps", "3"], "no other settings"),
        (["reproduce", "table3"], "table2"),
        (["reproduce", "nope"], "theorem2-adaptive, theorem2-regimes, rates"),
        (["reproduce", "rates", "--rule", "krum"], "rates takes no --rule"),
        (["reproduce", "rates", "--attack", "sf"], "rates takes no --attack"),
        (["reproduce", "theorem2-regimes", "--data-dir", "."], "theorem2-regimes takes no --data-dir"),
        (["reproduce", "rates", "--engine", "magic"], "engine"),
        (["reproduce", "rates", "--steps", "31"], "at least 32 steps"),
        (["train", "--preset", "theorem1", "--rule", "slack"], "--kappa"),
        (["reproduce", "theorem2-regimes", "--seeds", "3"], "theorem2-regimes takes no --seeds"),
        (["reproduce", "table2", "--engine", "magic"], "engine"),
        (["reproduce", "table2", "--rule", "average"], "average"),
        (["reproduce", "table2", "--seeds", "0"], "seeds"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, named, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert named in complaint


def test_replay_prints_no_json(capsys):
    assert main(["train", "--replay", "run", "--json"]) == 2
    assert "no --json" in capsys.readouterr().err


def test_resuming_what_is_no_run_is_one_line_and_exit_code_2(tmp_path, capsys):
    assert main(["train", "--resume", str(tmp_path / "nothing")]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "not the folder of a run" in complaint


@pytest.mark.parametrize(("given", "stored"), [("none", None), ("0", None), ("0.5", 0.5)])
def test_clipping_can_be_switched_off(given, stored, tmp_path):
    assert main([*QUICK, "--steps", "1", "--clip", given, "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "configuration.json").read_text())["clip"] == stored


def test_rates_of_other_settings_are_not_overwritten(tmp_path, capsys):
    other = {"command": "kappaguard reproduce rates --seeds 9", "slopes": [], "floors": [], "fit": None}
    (tmp_path / "rates.json").write_text(json.dumps(other))
    assert main(["reproduce", "rates", "--steps", "32", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert json.loads((tmp_path / "rates.json").read_text()) == other


@pytest.mark.solver
def test_where_nothing_is_claimed_theorem_2_takes_the_certified_coefficient(tmp_path, capsys):
    """kappa* of multikrum is 16/9 at n = 17 and f = 4; behind NNM the lemma of directions makes it
    16/169 (17 + 21/2 16/9)."""
    behind = 16 / 169 * (17 + 21 / 2 * 16 / 9)
    chosen = ["--steps", "3", "--attack", "sf", "--rule", "multikrum", "--rule", "nnm+multikrum", "--rule", "cwtm"]
    assert main(["reproduce", "theorem2", *chosen, "--out", str(tmp_path)]) == 0
    with sqlite3.connect(tmp_path / "cells.sqlite") as connection:
        rows = connection.execute("SELECT result FROM cells WHERE key NOT LIKE '% log'")
        stored = [json.loads(text)["configuration"] for (text,) in rows]
    connection.close()
    found = {each["rule"]: each["kappa"] for each in stored}
    assert found.pop("cwtm") is None
    assert found == pytest.approx({"multikrum": 16 / 9, "nnm+multikrum": behind}, rel=1e-8)
    assert min(found["multikrum"] - 16 / 9, found["nnm+multikrum"] - behind) >= -1e-15
    assert capsys.readouterr().out.count("yes") == 3


def test_table_2_has_the_papers_twelve_methods_and_five_attacks():
    assert len(TABLE_2) == 12
    assert all(len(row) == len(ATTACKS) == 5 for row in TABLE_2.values())
    assert paper_number("nnm+krum", "foe") == (70.07, 4.39)
    assert paper_number("average", "foe") is None
    cells = cells_of("table2", seeds=2)
    assert len(cells) == 120
    assert len({cell.key for cell in cells}) == 120
    assert {cell.configuration.steps for cell in cells} == {800}
    assert "foe(positive=True)" in {cell.configuration.attack for cell in cells}
    assert cells_of("table2", 1, device="cpu")[0].key == cells[0].key


def test_a_cell_that_was_finished_with_other_defaults_is_not_taken(tmp_path):
    ledger = CellStore(tmp_path / "cells.sqlite")
    (cell,) = cells_of("theorem1", 1, ["cwtm"], ["sf"])
    ledger.add(cell, {"steps": 3}, [])
    assert ledger.result(cell) == {"steps": 3}
    with finished_cells(ledger.path) as stored:
        entry = json.loads(stored[cell.key])
        older = {name: value for name, value in entry["configuration"].items() if name != "samples"}
        stored[cell.key] = json.dumps({**entry, "configuration": older})
    assert ledger.result(cell) == {"steps": 3}
    with finished_cells(ledger.path) as stored:
        stored[cell.key] = json.dumps({**entry, "configuration": {**older, "l2": 0.5}})
    assert ledger.result(cell) is None


def test_every_experiment_has_cells_that_can_be_configured():
    for name in EXPERIMENTS:
        assert cells_of(name, seeds=1)


SMALL_SWEEP = ["reproduce", "theorem1", "--steps", "3", "--rule", "cwtm", "--attack", "sf", "--attack", "foe"]


def test_finished_cells_are_not_run_again(tmp_path, monkeypatch, capsys):
    assert main([*SMALL_SWEEP, "--out", str(tmp_path)]) == 0
    first = capsys.readouterr().out
    assert "left/stated" in first

    def fail(*_, **__):
        raise AssertionError("a finished cell was run again")

    monkeypatch.setattr("kappaguard.training.reproduce.sweep.finish", fail)
    assert main([*SMALL_SWEEP, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == first


def test_killing_a_sweep_loses_at_most_the_cell_in_progress(tmp_path):
    command = ["reproduce", "theorem1", "--steps", "40", "--rule", "cwmed", "--rule", "cwtm", "--out", str(tmp_path)]
    process = subprocess.Popen([sys.executable, "-m", "kappaguard", *command], stdout=subprocess.DEVNULL)
    cells = cells_of("theorem1", 1, ["cwmed", "cwtm"], steps=40)
    ledger = CellStore(tmp_path / "cells.sqlite")
    deadline = time.monotonic() + 120
    while not any(ledger.result(cell) for cell in cells) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = [cell for cell in cells if ledger.result(cell) is not None]
    assert 1 <= len(done) < len(cells)
    assert [cell.key for cell in done] == [cell.key for cell in cells[: len(done)]]
    assert all(len(ledger.rows(cell)) == 40 for cell in done)


def test_processes_give_the_same_as_one(tmp_path):
    cells = cells_of("theorem1", 1, ["cwtm"], ["sf", "mimic"], steps=4)
    chosen = ["--steps", "4", "--rule", "cwtm", "--attack", "sf", "--attack", "mimic"]
    for jobs in ("1", "2"):
        assert main(["reproduce", "theorem1", *chosen, "--jobs", jobs, "--out", str(tmp_path / jobs)]) == 0
    one, other = (CellStore(tmp_path / jobs / "cells.sqlite") for jobs in ("1", "2"))
    assert [one.rows(cell) for cell in cells] == [other.rows(cell) for cell in cells]


def test_the_table_shows_our_number_beside_the_papers():
    cells = cells_of("table2", 2, ["nnm+krum"], ["foe"])
    results = [{"best_accuracy": value, "largest_ratio": 0.5, "steps": 800} for value in (0.70, 0.72)]
    ((rule, attack, ours, paper, difference, errors, ratio, steps, seeds),) = table(zip(cells, results, strict=True))
    # (71 - 70.07)/sqrt(2/2 + 4.39^2/5)
    assert errors == "+0.4"
    assert (rule, attack, ours, paper) == ("nnm+krum", "foe", "71.00 ± 1.41", "70.07 ± 4.39")
    assert (difference, ratio, steps, seeds) == ("+0.93", "0.5", "800", "2")


def test_a_rule_that_is_named_twice_counts_once(tmp_path, capsys):
    named = ["--rule", "krum", "--rule", "krum", "--attack", "sf", "--attack", "sf"]
    assert main(["reproduce", "theorem1", "--steps", "3", *named, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("krum") == 1


@pytest.mark.parametrize("name", ["LF", "None", "FOE"])
def test_names_of_attacks_in_capitals_are_known(name, tmp_path):
    assert main([*QUICK, "--steps", "1", "--attack", name, "--out", str(tmp_path)]) == 0


def test_a_run_steeper_than_assumed_is_refused_afterwards(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("kappaguard.training.theorems.constants.theorem_settings", lambda *_: (lambda t: 0.5, 0.0))
    steep = ["--schedule", "theorem", "--algorithm", "gd", "--measure", "full", "--measure-every", "1", "--steps", "3"]
    for assumed, code in (("1e-6", 2), ("1e6", 0)):
        given = ["train", *steep, "--assumed-smoothness", assumed, "--out", str(tmp_path / assumed)]
        assert main(given) == code
    assert "steeper" in capsys.readouterr().err


def test_a_disk_that_takes_no_more_is_one_line(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise RuntimeError("[enforce fail at inline_container.cc:659] . unexpected pos 64 vs 0\nframe #0")

    monkeypatch.setattr(torch, "save", full)
    assert main([*QUICK, "--steps", "1", "--out", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "checkpoint" in complaint


@pytest.mark.parametrize(
    "left", [{"WORLD_SIZE": "abc"}, {"WORLD_SIZE": "2", "RANK": "0"}, {"WORLD_SIZE": "1", "RANK": "0"}], ids=str
)
def test_what_others_left_in_the_environment_starts_no_group(left, tmp_path, monkeypatch):
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in left.items():
        monkeypatch.setenv(name, value)
    assert main([*QUICK, "--steps", "1", "--out", str(tmp_path)]) == 0
