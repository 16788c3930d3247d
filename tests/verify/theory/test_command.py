"""``kappaguard verify``: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from kappaguard.cli import main
from kappaguard.reports.table import Place
from kappaguard.verify.theory.claim import Claim, Finding
from kappaguard.verify.theory.registry import claims as every_claim
from kappaguard.verify.theory.run import FINISHED

pytestmark = pytest.mark.solver


def claim(name="sound", expected="proved", statement="a statement", detail="Fine.", error=None):
    def check(effort, report):
        if error is not None:
            raise error
        return Finding("proved", ("exact",), 1.0, 2.0, detail)

    return Claim(name, statement, "a source", expected, check)


@pytest.fixture(autouse=True)
def small_table(monkeypatch):
    """The table of kappa* has tests of its own, and takes minutes."""
    monkeypatch.setattr("kappaguard.reports.collect.places", lambda effort: [Place("cwtm", 5, 1)])
    monkeypatch.setattr("kappaguard.reports.collect.SEARCHED", ("cwtm",))


@pytest.fixture
def listed(monkeypatch):
    def these(*claims):
        monkeypatch.setattr("kappaguard.verify.theory.registry.claims", lambda paper=None: claims)

    return these


def test_all_as_recorded(listed, tmp_path, capsys):
    listed(claim("one"), claim("two"))
    folder = tmp_path / "new" / "folder"
    assert main(["verify", "--quick", "--out", str(folder)]) == 0
    output, complaint = capsys.readouterr()
    assert "2 claims: 2 proved, 0 refuted, 0 open" in output
    assert complaint == ""
    assert json.loads((folder / "results.json").read_text())["complete"] is True
    assert "## one: proved" in (folder / "report.md").read_text()


def test_the_usual_effort_adds_searches_and_estimates(listed, tmp_path, monkeypatch):
    for name, value in {"N": 5, "F": 1, "EVALUATIONS": 100, "ROUNDS": 2, "ESTIMATED": ("cwtm",)}.items():
        monkeypatch.setattr(f"kappaguard.reports.collect.{name}", value)
    listed(claim("one"))
    assert main(["verify", "--out", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "results.json").read_text())
    assert [(each["rule"], each["n"], each["f"]) for each in data["searches"]] == [("cwtm", 5, 1)]
    (estimate,) = data["estimates"]
    assert estimate["command"].startswith("kappaguard estimate cwtm -n 5 -f 1 ")


def test_a_second_run_says_what_it_took_from_the_first(listed, tmp_path, capsys):
    listed(claim("one"))
    main(["verify", "--quick", "--out", str(tmp_path)])
    capsys.readouterr()
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 0
    assert "1 from an earlier run" in capsys.readouterr().out
    assert main(["verify", "--quick", "--fresh", "--out", str(tmp_path)]) == 0
    assert "earlier" not in capsys.readouterr().out


def test_a_changed_verdict_is_named_and_is_exit_code_1(listed, tmp_path, capsys):
    listed(claim("one"), claim("two", expected="refuted"))
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "changed: two was refuted and is proved\n"
    assert json.loads((tmp_path / "results.json").read_text())["changed"] == ["two"]
    assert "**Changed: the recorded verdict is refuted.**" in (tmp_path / "report.md").read_text()


def test_a_check_that_fails_is_exit_code_1_and_the_others_are_run(listed, tmp_path, capsys):
    listed(claim("one", error=RuntimeError("no solver")), claim("two"))
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 1
    output, complaint = capsys.readouterr()
    assert complaint == "changed: one was proved and is failed (RuntimeError: no solver)\n"
    assert "1 proved" in output


def test_an_interrupted_run_leaves_a_valid_report(listed, tmp_path, capsys):
    listed(claim("one"), claim("two", error=KeyboardInterrupt()), claim("three"))
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 130
    assert "1 of 3 claims are done" in capsys.readouterr().err
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["complete"] is False
    assert [entry["name"] for entry in data["claims"]] == ["one"]
    assert "interrupted" in (tmp_path / "report.md").read_text()


def test_text_is_shown_as_it_is(listed, tmp_path, capsys):
    wild = "a*b*c [bold]|x_i|^2[/bold] <script>`code` \\ $5$ # ~~no~~"
    listed(claim("one", statement=wild, detail=f"{wild}."))
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 0
    assert wild in capsys.readouterr().out
    report = (tmp_path / "report.md").read_text()
    assert "\\[bold\\]\\|x\\_i\\|²" in report
    assert "\\<script\\>" in report
    row = next(line for line in report.splitlines() if line.startswith("| one "))
    assert row.replace("\\|", "").count("|") == 8


def test_quick_and_full_exclude_each_other(tmp_path, capsys):
    assert main(["verify", "--quick", "--full", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "kappaguard: --quick and --full exclude each other\n"


def test_a_folder_that_cannot_be_written_is_a_wrong_request(listed, tmp_path, capsys):
    listed(claim())
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert main(["verify", "--quick", "--out", str(blocked / "below")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_page_of_somebody_else_is_not_written_over(listed, tmp_path, capsys):
    listed(claim())
    (tmp_path / "index.html").write_text("precious")
    assert main(["verify", "--quick", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "index.html").read_text() == "precious"


def finished_claims(folder):
    """What a run, which may go on, has stored so far."""
    path = folder / FINISHED
    if not path.exists():
        return []
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        try:
            return connection.execute("select key from cells").fetchall()
        except sqlite3.OperationalError:
            return []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_control_c_in_a_real_run(tmp_path):
    command = [sys.executable, "-m", "kappaguard", "verify", "--quick", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not finished_claims(tmp_path) and time.monotonic() < deadline:
            time.sleep(0.05)
        # a library may swallow an interrupt that comes inside a callback: press again, as people do
        while process.poll() is None and time.monotonic() < deadline + 60:
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.5)
        _, complaint = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "run again to go on" in complaint
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["complete"] is False
    assert 1 <= len(data["claims"]) < len(every_claim())
    assert len(finished_claims(tmp_path)) >= len(data["claims"])
