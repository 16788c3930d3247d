"""``kappaguard sweep``: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kappaguard.cli import main


def test_rules_times_pairs_times_budgets_times_seeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "sweep.sqlite")
    given = ["sweep", "cwmed", "cwtm", "--at", "5,1", "--evaluations", "40", "--evaluations", "60", "--seeds", "2"]
    assert main([*given, "--store", store, "--jobs", "1", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert len(results) == 2 * 1 * 2 * 2
    assert [each["evaluations"] for each in results[:4]] == [40, 40, 60, 60]
    assert all(0 < each["lower"] <= 1 for each in results)
    assert main([*given, "--store", store, "--jobs", "1"]) == 0
    assert "cwtm" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["krumm", "--at", "5,1"], "krumm"),
        (["krum", "--at", "5,3"], "f < n/2"),
        (["krum", "--at", "5"], "a pair n,f"),
        (["krum", "--at", "5,1", "--seeds", "0"], "seeds"),
        (["krum", "--at", "5,1", "--jobs", "0"], "jobs"),
        (["krum", "--at", "5,1", "--engine", "slurm"], "slurm"),
    ],
)
def test_a_wrong_request_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", *arguments, "--evaluations", "20", "--store", str(tmp_path / "sweep.sqlite")]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
