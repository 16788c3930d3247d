"""Verdicts of every kind in every form: what is unfinished, fixed or rejected is told; what a rule says is shown."""

from __future__ import annotations

import json
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from kappaguard.reports.guard.entries import entry
from kappaguard.reports.guard.junit import junit
from kappaguard.reports.guard.place import place
from kappaguard.reports.guard.sarif import sarif
from kappaguard.reports.guard.table import HEADINGS, row, warnings
from kappaguard.reports.guard.workflow import commands, in_workflow
from kappaguard.verify.guard.finding import HealthFinding
from kappaguard.verify.guard.verdict import Spent, Verdict

EVIL = "a\x1b[31m\r\n::error::b,c:d%0A<b>]]>&\x00\ud800\uffff"
HOLDS = Verdict("krum", 5, 1, "8", Fraction(8), "proved", "certified", Fraction(2), Fraction(3), effort=Spent(1.5, 7))
HANGS = Verdict(
    "x.py:f",
    5,
    1,
    "8",
    Fraction(8),
    "unfinished",
    "not finished",
    trouble=EVIL,
    findings=(HealthFinding("a", False, EVIL),),
)
FIXED = Verdict(EVIL, 5, 1, EVIL, Fraction(1, 3), "open", EVIL, fixed=("w.json",), rejected=(EVIL,))
ALL = [HOLDS, HANGS, FIXED]


def test_junit():
    suite = ElementTree.fromstring(junit(ALL, [EVIL]).partition("\n")[2])
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "0",
        "errors": "2",
    }
    assert [case.get("name")[:6] for case in suite] == ["krum n", "x.py:f", "a\\x1b[", "reques"]


def test_sarif():
    (run,) = json.loads(sarif(ALL, [EVIL]))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["kappa/unfinished", "kappa/health/a", "kappa/request"]
    assert all(result["message"]["text"].isprintable() for result in run["results"])


def test_commands_of_a_workflow():
    lines = commands(ALL, [EVIL])
    assert all(line.isprintable() for line in lines)
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::warning", "::error"]
    for line in lines:
        # properties, then the message: neither can be ended from inside
        head, _, message = line[2:].partition("::")
        assert head.count(",") == 2
        assert "%" not in message.replace("%25", "").replace("%0A", "")
    assert in_workflow({"GITHUB_ACTIONS": "true"})
    assert not in_workflow({})


def test_json_and_table():
    for verdict in ALL:
        data = json.loads(json.dumps(entry(verdict), allow_nan=False))
        assert data["rule"].isprintable()
        assert all(cell.isprintable() for cell in row(verdict))
        assert len(row(verdict)) == len(HEADINGS)
    assert entry(HOLDS)["exact"] == {"bound": "8", "lower": "2", "upper": "3"}
    assert row(HANGS)[6] == "unfinished"
    assert list(warnings([HANGS])) == []


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("krum", "pyproject.toml"),
        ("a/b.py:Rule", "a/b.py"),
        ("nnm+a/b.py:Rule(x=1)", "a/b.py"),
        ("/abs/b.py:Rule", "b.py"),
        ("module:Rule", "pyproject.toml"),
    ],
)
def test_the_file_that_a_verdict_belongs_to(rule, path):
    assert place(rule) == path
