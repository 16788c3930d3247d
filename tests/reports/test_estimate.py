"""Estimates in reports: the section, the table of a pull request, and numbers that are the stored ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kappaguard.cli import main
from kappaguard.reports.empirical import TABLES, filled, rows_of
from kappaguard.reports.estimate import mixing_row, notes, read_estimate, row
from kappaguard.reports.pictures.estimate import distributions
from kappaguard.reports.write import write_report
from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.names import source_named
from kappaguard.verify.estimate.part import Question
from kappaguard.verify.estimate.results import as_results
from kappaguard.verify.estimate.run import run
from tests.reports.example import HOSTILE, results

pytestmark = pytest.mark.solver


@pytest.fixture(scope="module")
def data():
    question = Question(("krum", "average", "cwtm"), 9, 2, ("sf", "foe"))
    return as_results(run(question, source_named("gaussian:d=3", 9, 2), 25), "kappaguard estimate ...")


def test_the_section_shows_every_rule_and_the_picture(data, tmp_path):
    write_report({**results(), "estimates": [data]}, tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "What happens, beside what can happen" in page
    for each in data["estimates"]:
        for cell in row(each):
            assert cell.replace("'", "&#39;").replace(">", "&gt;").replace("<", "&lt;") in page
    assert "The numbers: gaussian:d=3, n = 9, f = 2" in page
    text = (tmp_path / "report.md").read_text()
    assert "## What happens on gaussian:d=3, n = 9, f = 2" in text


def test_a_report_without_estimates_says_how_to_get_one(tmp_path):
    write_report(results(), tmp_path)
    assert "kappaguard report . --out . --estimate FILE" in (tmp_path / "index.html").read_text()


def test_names_cannot_break_out(data, tmp_path):
    nasty = json.loads(json.dumps(data).replace("gaussian:d=3", json.dumps(HOSTILE)[1:-1]))
    for each in nasty["estimates"]:
        each["rule"] = HOSTILE
    write_report({**results(), "estimates": [nasty]}, tmp_path)
    assert "<script>window.broken" not in (tmp_path / "index.html").read_text()


def test_rows_say_what_is_stored(data):
    by = {(each["attack"], each["rule"]): each for each in data["estimates"]}
    krum = by["sf", "krum"]
    cells = row(krum)
    assert cells[3] == f"{krum['largest']:.4g}"
    assert cells[7] == "3.244"
    assert cells[9] == f"{100 * krum['largest'] / krum['upper']:.3g} %"
    assert row(by["sf", "average"])[7] == "infinite"
    mixed = by["sf", "nnm+krum"]
    assert row(mixed)[7] == f"{mixed['lower']:.4g} to {mixed['upper']:.4g}"
    assert 1.9 < mixed["lower"] < mixed["upper"] < 4.86
    assert row(by["sf", "bucketing+krum"])[7].startswith(">= ")
    assert mixing_row(by["sf", "nnm+krum"])[5] == "1.143"
    assert mixing_row(by["sf", "bucketing+krum"])[5] == ""
    assert any("the honest ones" in line for line in notes(data))
    crossed = json.loads(json.dumps(data))
    crossed["estimates"][1]["mixing"]["crossed"] = 3
    assert any("WARNING" in line for line in notes(crossed))


def test_the_picture_holds_its_data(data):
    picture = distributions(data)
    lines = picture.csv.splitlines()
    counted = sum(int(line.split(",")[4]) for line in lines[1:])
    seen = sum(sum(each["histogram"]["counts"]) for each in data["estimates"])
    assert counted == seen
    assert "currentColor" in picture.svg


def test_a_stored_estimate_is_read_again_or_refused(data, tmp_path, capsys):
    (tmp_path / "a.json").write_text(json.dumps(data))
    assert read_estimate(tmp_path / "a.json") == data
    for wrong in ("{", "[]", "{}", json.dumps({**data, "estimates": [{}]}), json.dumps({**data, "n": "<b>"})):
        (tmp_path / "b.json").write_text(wrong)
        with pytest.raises(InputError):
            read_estimate(tmp_path / "b.json")
    write_report(results(), tmp_path / "report")
    given = ["report", str(tmp_path / "report"), "--out", str(tmp_path / "report"), "--estimate"]
    assert main([*given, str(tmp_path / "a.json")]) == 0
    assert "The numbers: gaussian:d=3" in (tmp_path / "report" / "index.html").read_text()
    assert main([*given, str(tmp_path / "b.json")]) == 2


DOCS = Path(__file__).parents[2] / "docs"


def test_the_tables_of_the_study_are_those_of_its_data():
    rows = rows_of((DOCS / "empirical.csv").read_text(encoding="utf-8"))
    page = (DOCS / "empirical.md").read_text(encoding="utf-8")
    assert filled(page, rows) == page, "run python -m kappaguard.reports.empirical docs"
    assert all(f"<!-- {name} -->\n| " in page for name in TABLES)
    assert (DOCS / "empirical.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_study_contradicts_nothing_that_is_proved():
    """Of 17 workers 4 are Byzantine: no ratio beyond kappa*, and nnm keeps its lemma in every round."""
    rows = rows_of((DOCS / "empirical.csv").read_text(encoding="utf-8"))
    assert {(each["n"], each["f"]) for each in rows} == {(17, 4)}
    for each in rows:
        if isinstance(each["upper"], float):
            assert each["largest"] <= each["upper"], each["rule"]
        if each["rule"].startswith("nnm+"):
            assert each["total_largest"] <= 4 * 4 / 13
