"""The dossier: from a callable in a file to one folder whose numbers are those of its witnesses."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from kappaguard.cli import main
from kappaguard.reports.dossier.escape import escaped
from kappaguard.reports.dossier.page import page
from kappaguard.reports.dossier.plan import Plan, plan_from_json
from kappaguard.reports.dossier.run import stress
from kappaguard.reports.dossier.sections import SECTIONS, training
from kappaguard.reports.dossier.sections.cost import _exponent
from kappaguard.reports.dossier.sections.grid import _slope, best_rule, cells
from kappaguard.reports.dossier.verdict import verdict
from kappaguard.rules.errors import InputError
from kappaguard.rules.witness import load
from kappaguard.verify.replay import replay

MINE = """import time
import numpy as np


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def trims_three(x):
    return np.sort(x, axis=0)[3:-3].mean(axis=0)


def hangs(x):
    time.sleep(100)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_one_command_one_folder(folder, capsys, monkeypatch):
    # training has a test of its own
    sections = tuple(name for name in SECTIONS if name != "training")
    monkeypatch.setattr("kappaguard.reports.dossier.run.SECTIONS", sections)
    status = main(["stress", "mine.py:trimmed", "-n", "7", "-f", "2", "--budget", "0.1", "--out", "dossier"])
    output = capsys.readouterr().out
    assert status == 0
    assert "Dossier: dossier/dossier.md" in output
    text = (folder / "dossier" / "dossier.md").read_text()
    data = json.loads((folder / "dossier" / "dossier.json").read_text())
    assert data["failed"] == {}
    assert list(data["sections"]) == list(sections)
    # every lower bound is its witness's, and the trimmed mean attains f/(n-2f)
    for row in data["sections"]["grid"]["rows"]:
        witness = load(folder / "dossier" / "witnesses" / row["witness"])
        assert replay(witness).reproduces
        assert row["lower"] == pytest.approx(float(witness.lower), rel=1e-9)
        assert row["lower"] <= float(Fraction(row["f"], row["n"] - 2 * row["f"])) * (1 + 1e-9)
    here = next(row for row in data["sections"]["grid"]["rows"] if (row["n"], row["f"]) == (7, 2))
    assert here["lower"] == pytest.approx(2 / 3, rel=1e-6)
    assert data["sections"]["breakdown"]["breaks_at"] is None
    assert 0.3 < data["sections"]["cost"]["exponent_d"] < 2.5
    for name in re.findall(r"\(witnesses/([^)]+)\)", text):
        assert (folder / "dossier" / "witnesses" / name).is_file()
    assert text.startswith("# Dossier of mine.py:trimmed\n\n- Sound")


def test_training_under_attack(monkeypatch):
    monkeypatch.setattr(training, "MOST_STEPS", 2)
    monkeypatch.setattr(training, "LEAST_STEPS", 2)
    data = json.loads(json.dumps(training.compute(Plan("cwtm", 5, 1)), allow_nan=False))
    assert [row["attack"] for row in data["rows"]] == ["none", "alie", "foe", "sf", "mimic", "lf"]
    assert all(0 <= row[name]["accuracy"] <= 1 for row in data["rows"] for name in ("rule", "beside"))
    text = page(Plan("cwtm", 5, 1), {"training": data}, {}, 1.0)
    assert "after 2 steps on digits" in text
    assert "at worst" in text


def test_a_rule_that_breaks(folder):
    dossier = stress(Plan("mine.py:trims_three", 17, 4, 0.1), folder / "out", 2, ("health", "breakdown", "mixing"))
    # three are trimmed: from four on, equal honest vectors are missed
    assert dossier.data["breakdown"]["breaks_at"] == 4
    states = [row["state"] for row in dossier.data["breakdown"]["rows"]]
    assert states == ["stands"] * 3 + ["breaks"] * 5
    first = verdict(dossier.plan, dossier.data, dossier.failed)[0]
    assert "Not robust at n = 17, f = 4" in first
    assert dossier.data["mixing"]["rows"][0]["lower"] == "inf"


def test_a_section_that_fails_does_not_take_the_others_along(folder, monkeypatch):
    monkeypatch.setattr("kappaguard.reports.dossier.run.GRACE", 3.0)
    with pytest.raises(InputError, match="did not return within 3 s"):
        stress(Plan("mine.py:hangs", 5, 1, 0.1), folder / "out", 1, ("health",))
    data = {"breakdown": {"n": 5, "rows": [], "breaks_at": None, "most": 2}}
    text = page(Plan("a`b|c<d>", 5, 1), data, {"health": "raised *x* | <b>"}, 1.0)
    assert "Left out: raised \\*x\\* \\| \\<b\\>" in text
    assert "# Dossier of a\\`b\\|c\\<d\\>" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["krumm"], "did you mean krum"),
        (["krum", "-n", "4", "-f", "2"], "f < n/2"),
        (["krum", "-f", "0"], "f must"),
        (["krum", "--budget", "-1"], "budget"),
        (["krum", "--jobs", "0"], "--jobs"),
        (["krum", "--out", "mine.py/x"], "cannot write"),
        (["nothing.py:rule", "-n", "5", "-f", "1"], "does not exist"),
    ],
)
def test_wrong_requests(folder, capsys, arguments, said):
    assert main(["stress", *arguments]) == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("kappaguard: ")
    assert said in complaint


def test_plans():
    plan = Plan("krum", 9, 2, 1.5, 3, "w")
    assert plan_from_json(plan.to_json()) == plan
    assert (9, 2) in cells(plan)
    assert all(1 <= f < n / 2 for n, f in cells(plan))


def test_trends_of_known_functions():
    assert _slope([(x, 3 * x**1.5) for x in (0.1, 0.5, 2.0)]) == pytest.approx(1.5)
    assert _slope([(1.0, 2.0)]) is None
    assert _exponent([(10, 1.0), (100, 1.1), (1000, 11.0), (10_000, 110.0)]) == pytest.approx(1.0)
    assert best_rule(17, 4) == ("cwtm", pytest.approx(4 / 9))


@pytest.mark.parametrize("text", ["a\nb", "|", "<script>", "[x](y)", "\x1b[31m", "`code`", "**bold**", "&amp;"])
def test_what_a_rule_says_is_shown_as_it_is(text):
    shown = escaped(text)
    assert "\n" not in shown
    assert "\x1b" not in shown
    for character in "|<>[]`*&":
        assert shown.count(character) == shown.count(f"\\{character}")
