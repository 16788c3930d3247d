"""The command line: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from kappaguard import __version__
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError

BUILT_IN = {"average", "cwmed", "cwtm", "gm", "krum", "multikrum", "mda", "meamed", "nnm", "bucketing"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["no-such-command"], "no-such-command"),
        (["--no-such-option"], "--no-such-option"),
        (["rules", "--no-such-option"], "--no-such-option"),
        (["rules", "surplus"], "surplus"),
        (["verify", "--out"], "--out"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(arguments, named, capsys):
    assert main(arguments) == 2
    output, complaint = capsys.readouterr()
    assert output == ""
    assert complaint.count("\n") == 1
    assert complaint.startswith("kappaguard: ")
    assert named in complaint


def test_the_process_itself_exits_with_2_and_shows_no_trace():
    command = [sys.executable, "-m", "kappaguard", "no-such-command"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_a_report_that_cannot_be_written_is_a_wrong_request(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["verify", "--out", str(tmp_path / "file" / "folder")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_input_error_of_many_lines_is_told_in_one(monkeypatch, capsys):
    def fail() -> None:
        raise InputError("n = 3\nf = 2")

    monkeypatch.setattr("kappaguard.cli.catalogue.entries", fail)
    assert main(["rules"]) == 2
    assert capsys.readouterr().err == "kappaguard: n = 3 f = 2\n"


def test_an_error_of_ours_is_not_blamed_on_the_request(monkeypatch, capsys):
    def fail() -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("kappaguard.cli.catalogue.entries", fail)
    assert main(["rules"]) == 3
    assert capsys.readouterr().err == (
        "kappaguard: an error of kappaguard itself: ValueError: a bug; --debug shows where\n"
    )


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_the_commands(arguments, capsys):
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "rules" in output
    assert "verify" in output


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kappaguard {__version__}\n"


def test_rules_lists_what_there_is(capsys):
    assert main(["rules"]) == 0
    words = set(capsys.readouterr().out.split())
    assert words >= BUILT_IN


def test_rules_as_json(capsys):
    assert main(["rules", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["version"] == __version__
    listed = {entry["name"]: entry for entry in answer["rules"]}
    assert listed.keys() >= BUILT_IN
    assert listed["nnm"]["kind"] == "pre"
    assert listed["krum"]["kind"] == "rule"
    assert listed["krum"]["coefficient"]
    assert all(entry["definition"] for entry in listed.values())
