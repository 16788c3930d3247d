"""``kappaguard exact`` and what can be done with the files it writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kappaguard.cli import main

pytestmark = pytest.mark.solver

KEYS = {"rule", "n", "f", "lower", "upper", "verdict", "witness", "seconds", "evaluations", "seed", "version"}


def test_files_replay(tmp_path, capsys):
    assert main(["exact", "mda", "-n", "5", "-f", "1", "--json", "--out", str(tmp_path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data) >= KEYS
    assert data["verdict"] == "exact"
    assert data["lower"] == pytest.approx(1.375, rel=1e-6)
    assert main(["replay", data["witness"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lower"] == data["lower"]
    assert main(["replay", data["certificate"]]) == 0
    assert "at most 1.375" in capsys.readouterr().out


def test_a_tampered_certificate_is_rejected(tmp_path, capsys):
    assert main(["exact", "cwmed", "-n", "5", "-f", "1", "--json", "--out", str(tmp_path)]) == 0
    path = Path(json.loads(capsys.readouterr().out)["certificate"])
    path.write_text(path.read_text().replace('"upper": "1"', '"upper": "9/10"'))
    assert main(["replay", str(path)]) == 1
    assert "rejected" in capsys.readouterr().out


def test_text(tmp_path, capsys):
    assert main(["exact", "gm", "-n", "4", "-f", "1", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "kappa* >=" in out
    assert "exact" in out


@pytest.mark.parametrize(
    "request_",
    [
        ["exact", "krumm", "-n", "5", "-f", "1"],
        ["exact", "krum", "-n", "5", "-f", "3"],
        ["exact", "krum", "-n", "5"],
        ["exact", "byzfl:GeometricMedian", "-n", "5", "-f", "1"],
        ["replay", "nowhere.certificate.json"],
    ],
    ids=" ".join,
)
def test_wrong_requests(request_, capsys):
    assert main(request_) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.strip().splitlines()) == 1
