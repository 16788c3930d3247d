"""Rates and the terms of Theorem 2 are kept run by run: what was finished before a kill is not done again."""

from __future__ import annotations

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from kappaguard.cli import main
from kappaguard.reports import rates as shown
from kappaguard.training.configuration import preset
from kappaguard.training.reproduce import rates as measuring
from kappaguard.training.reproduce import sweep as sweeping
from kappaguard.training.reproduce.experiments import RUN, SUMMARY, Cell
from kappaguard.training.reproduce.rates import rate_cells
from kappaguard.training.theorems.rates import gd_runs, shb_runs
from kappaguard.training.theorems.summary import RateSummary

REGIMES = ["reproduce", "theorem2-regimes", "--steps", "20"]
RATES = ["reproduce", "rates", "--steps", "32", "--seeds", "2"]


@pytest.fixture
def few(monkeypatch):
    """Fewer rates: 5 + 2 x 5 + 3 runs."""
    monkeypatch.setattr(measuring, "GD", [("cwtm", "sf")])
    monkeypatch.setattr(measuring, "SHB", [("cwtm", "sf")])
    monkeypatch.setattr(measuring, "SHARES", [(17, 1, 1.0), (17, 2, 1.0), (17, 4, 1.0)])
    monkeypatch.setattr(measuring, "ALPHAS", [])
    monkeypatch.setattr(measuring, "FLOOR", ("cwtm", "sf"))


def stored(out) -> int:
    """How many cells are finished; none as long as the file is only being made."""
    with closing(sqlite3.connect(out / "cells.sqlite")) as connection:
        try:
            (count,) = connection.execute("SELECT COUNT(*) FROM cells WHERE key NOT LIKE '% log'").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(count)


@pytest.mark.parametrize(("command", "total", "before"), [(REGIMES, 3, 2), (RATES, 18, 7)])
def test_an_interrupted_experiment_goes_on_where_it_was(command, total, before, few, tmp_path, monkeypatch, capsys):
    right, seen = sweeping.finish, []

    def finish(cell, report):
        if len(seen) == before:
            raise KeyboardInterrupt
        seen.append(cell.key)
        return right(cell, report)

    monkeypatch.setattr(sweeping, "finish", finish)
    assert main([*command, "--out", str(tmp_path / "parts")]) != 0
    assert f"{before} of {total} cells are done" in capsys.readouterr().err
    assert stored(tmp_path / "parts") == before
    before = -1
    assert main([*command, "--out", str(tmp_path / "parts")]) == 0
    assert len(seen) == len(set(seen)) == total
    printed = capsys.readouterr().out
    monkeypatch.setattr(sweeping, "finish", right)
    assert main([*command, "--out", str(tmp_path / "whole")]) == 0
    assert capsys.readouterr().out.replace("whole", "parts") == printed
    for path in (tmp_path / "whole").glob("[rt]*"):
        assert path.read_text() == (tmp_path / "parts" / path.name).read_text()


def test_killing_the_rates_loses_at_most_the_run_in_progress(tmp_path):
    command = [sys.executable, "-m", "kappaguard", "reproduce", "rates", "--steps", "64", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.02)
        if (tmp_path / "cells.sqlite").exists() and (tmp_path / "cells.sqlite").stat().st_size and stored(tmp_path):
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    keys = [cell.key for cell in rate_cells(64, 1)]
    with sqlite3.connect(tmp_path / "cells.sqlite") as connection:
        found = [
            key for (key,) in connection.execute("SELECT key FROM cells WHERE key NOT LIKE '% log' ORDER BY rowid")
        ]
    connection.close()
    assert 1 <= len(found) < len(keys)
    assert found == keys[: len(found)]
    assert not (tmp_path / shown.NAME).exists()


def test_a_summary_is_told_from_a_run_of_the_same_settings():
    given = preset("theorem1")
    assert Cell("theorem1", given, RUN).key == Cell("theorem1", given).key != Cell("rates", given, SUMMARY).key


def test_a_summary_is_what_the_log_of_the_same_run_says():
    """The left-hand sides once more, from fully measured runs."""
    (gd,) = gd_runs([9], "cwtm", "sf")
    (shb,) = shb_runs([9], "cwtm", "sf", 1)
    for given in (gd.with_values({"heterogeneity": 2.0}), shb):
        full = Cell("theorem1", given.with_values({"measure": "full"}))
        result, rows = sweeping.finish(full)
        found, nothing = sweeping.finish(Cell("rates", given, SUMMARY))
        gradients = [row["gradient_squared"] for row in rows]
        left = gradients[result["output_step"]] if given.algorithm == "gd" else np.mean(gradients)
        assert found["left"] == pytest.approx(left, rel=1e-12)
        assert found["ratio"] == max(row["ratio"] for row in rows)
        assert found["drift"] == pytest.approx(max(row["drift"] for row in rows))
        assert nothing == []


def test_infinite_numbers_come_back_from_the_ledger():
    assert RateSummary.from_json(json.loads('{"left": 1, "ratio": null, "drift": 0.5}')) == RateSummary(
        1, math.inf, 0.5
    )


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE cells SET result = '{'",
        "UPDATE cells SET result = '[1, 2]'",
        """UPDATE cells SET result = '{"configuration": null, "result": {}}'""",
        "DROP TABLE cells",
        "ALTER TABLE cells RENAME COLUMN result TO other",
    ],
)
def test_a_damaged_store_is_one_line(damage, tmp_path, capsys):
    command = ["reproduce", "theorem1", "--steps", "2", "--rule", "cwtm", "--attack", "sf", "--out", str(tmp_path)]
    assert main(command) == 0
    with sqlite3.connect(tmp_path / "cells.sqlite") as connection:
        connection.execute(damage)
    capsys.readouterr()
    assert main(command) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "cells.sqlite" in complaint
