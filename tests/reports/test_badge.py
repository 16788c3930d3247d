"""The badge says what the verdicts say, as a picture and as JSON for shields; SARIF points at the definition."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from kappaguard.cli import main
from kappaguard.reports.guard.badge import badge, message
from kappaguard.reports.guard.place import line
from kappaguard.reports.guard.sarif import sarif
from kappaguard.reports.guard.workflow import commands
from kappaguard.verify.guard.verdict import Verdict

PROVED = Verdict("krum", 5, 1, "8", Fraction(8), "proved", "certified")
OPEN = replace(PROVED, verdict="open")
REFUTED = replace(PROVED, verdict="refuted")
UNFINISHED = replace(PROVED, verdict="unfinished")


@pytest.mark.parametrize(
    ("outcomes", "errors", "words"),
    [
        ([PROVED, PROVED], [], "proved"),
        ([PROVED, OPEN], [], "1 proved, 1 not refuted"),
        ([PROVED, OPEN, REFUTED], ["wrong"], "1 of 3 refuted"),
        ([PROVED, UNFINISHED], [], "unfinished"),
        ([PROVED], ["a wrong request"], "no verdict"),
        ([], [], "no verdict"),
    ],
)
def test_the_badge_says_the_worst_there_is(outcomes, errors, words):
    assert message(outcomes, errors)[0] == words
    picture = ElementTree.fromstring(badge(outcomes, errors))
    assert words in "".join(picture.itertext())
    data = json.loads(badge(outcomes, errors, shields=True))
    assert (data["schemaVersion"], data["message"]) == (1, words)


def test_sarif_and_annotations_point_at_the_definition(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\nraise SystemExit\n\n\ndef rule(x):\n    pass\n\n\nother = rule\n"
    )
    assert [line("mine.py:rule"), line("nnm+mine.py:other"), line("mine.py:absent"), line("krum")] == [6, 10, 1, 1]
    (tmp_path / "broken.py").write_text("def (")
    assert line("broken.py:rule") == 1
    refuted = replace(REFUTED, rule="mine.py:rule")
    (result,) = json.loads(sarif([refuted]))["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 6}
    assert commands([refuted])[0].startswith("::error file=mine.py,line=6,")


def test_the_command_writes_both_kinds(tmp_path):
    command = ["check", "cwtm", "-n", "5", "-f", "1", "--claim", "f/(n-2*f)", "--witnesses", str(tmp_path / "w")]
    assert main([*command, "--badge", str(tmp_path / "badge.svg")]) == 0
    assert "proved" in (tmp_path / "badge.svg").read_text()
    assert main([*command, "--badge", str(tmp_path / "badge.json")]) == 0
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "proved"
