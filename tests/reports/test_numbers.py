"""Every number of a real report leads to its proof or to the command that finds it again, and the commands do."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from kappaguard.cli import main
from kappaguard.reports.collect import drawings
from kappaguard.reports.table import Place, table
from kappaguard.reports.training import with_training
from kappaguard.reports.write import write_report
from kappaguard.verify.theory.claim import Effort
from kappaguard.verify.theory.registry import claims
from kappaguard.verify.theory.run import results, run, write_witnesses

from . import example
from .walk import NUMBER, Walk, markdown_rows

pytestmark = pytest.mark.solver

CLAIMS = ("no-majority", "coefficient-cwtm", "kappa-lambda-footnote", "pivot", "bucketing-variance", "theorem-1")
PLACES = [Place("cwtm", 17, 4), Place("gm", 17, 4), Place("nnm+cwtm", 17, 4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with some claims, a part of the table, and a training run."""
    where = tmp_path_factory.mktemp("report")
    chosen = [claim for claim in claims() if claim.name in CLAIMS]
    outcomes = list(run(chosen, Effort.QUICK, where))
    write_witnesses(outcomes, where)
    found = results(outcomes, Effort.QUICK, complete=True)
    kappa = table(PLACES, where, jobs=1)
    found |= {"kappa": kappa, "drawings": drawings(found["claims"], kappa, where)}
    main(["train", "--steps", "3", "--measure-every", "1", "--evaluate-every", "0", "--out", str(where / "runs")])
    (stored,) = (where / "runs").iterdir()
    found = with_training(found, [stored], None) | {"rates": example.rates()}
    write_report(found, where)
    return where


@pytest.fixture(scope="module")
def walk(folder: Path) -> Walk:
    return Walk((folder / "index.html").read_text())


def printed(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[float]:
    """The numbers that a command prints."""
    capsys.readouterr()
    program, *words = shlex.split(command)
    assert program == "kappaguard"
    main(words)
    said = capsys.readouterr()
    assert said.err == ""
    return [float(each) for each in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", said.out)]


def among(number: str | float, found: list[float]) -> bool:
    value = float(str(number).strip("≤≥= "))
    return any(abs(each - value) <= 1e-4 * abs(value) for each in found)


def test_every_number_of_a_table_has_a_link_or_a_command(walk: Walk) -> None:
    rows = [row for row in walk.all("tr") if row.numbers]
    assert len(rows) == 1 + len(PLACES) + len(CLAIMS) - 1
    for row in rows:
        for cell in row.numbers:
            assert cell.links or row.commands, row.text


def test_every_picture_and_finding_has_its_data_and_a_command(walk: Walk) -> None:
    figures = walk.all("figure")
    assert len(figures) == 4
    for figure in figures:
        if figure.names.get("id") == "viewer":
            continue
        assert any(link.startswith("data:text/csv") for link in figure.links)
        assert figure.commands
    items = walk.all("li")
    assert len(items) == 3
    assert all(item.links and item.commands for item in items)


def test_every_link_leads_to_a_file_of_the_folder_or_a_place_of_the_page(walk: Walk, folder: Path) -> None:
    assert len(walk.links) > 20
    for link in walk.links:
        if link.startswith("#"):
            assert link == "#" or link[1:] in walk.ids, link
        elif not link.startswith("data:"):
            assert (folder / link).is_file(), link


def test_every_number_of_the_markdown_has_a_link_or_a_command(folder: Path) -> None:
    text = (folder / "report.md").read_text()
    rows = markdown_rows(text)
    assert len(rows) >= 2 + len(PLACES) + len(CLAIMS)
    for before, cells in rows:
        for cell in cells:
            if NUMBER.match(cell):
                assert "`kappaguard " in before or "`kappaguard " in cells[-1], cells
    for link in re.findall(r"(?<!\\)\]\(([^)]*)\)", text):
        assert (folder / link).is_file(), link


def test_the_commands_of_the_table_print_its_numbers(
    walk: Walk, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    rows = [row for row in walk.all("tr") if any(each.startswith("kappaguard exact") for each in row.commands)]
    assert len(rows) == len(PLACES)
    for row in rows:
        (command,) = row.commands
        bounds = [cell for cell in row.numbers if cell.links]
        assert len(bounds) == 2
        found = printed(command, folder, capsys)
        for cell in bounds:
            assert among(cell.text, found), (command, cell.text)


@pytest.mark.parametrize("name", [name for name in CLAIMS if name != "no-majority"])
def test_the_commands_of_a_claim_print_its_numbers(
    name: str, walk: Walk, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (row,) = (row for row in walk.all("tr") if row.names.get("id") == f"claim-{name}")
    again = [each for each in row.commands if "--only" in each]
    assert len(again) == 1
    found = printed(again[0], folder, capsys)
    for cell in row.numbers:
        assert among(cell.text, found), cell.text
    for command in row.commands:
        assert main(shlex.split(command)[1:]) == 0, command


def test_the_command_of_a_run_repeats_it(walk: Walk, folder: Path, tmp_path: Path) -> None:
    (command,) = (each for figure in walk.all("figure") for each in figure.commands if " train " in each)
    assert main([*shlex.split(command)[1:], "--out", str(tmp_path)]) == 0
    (stored,) = tmp_path.iterdir()
    rows = [json.loads(line) for line in (stored / "log.jsonl").read_text().splitlines()]
    data = json.loads((folder / "results.json").read_text())
    assert [row["ratio"] for row in rows] == pytest.approx(data["runs"][0]["ratio"])


def test_an_unknown_claim_is_a_wrong_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--only", "theorem"]) == 2
    complaint = capsys.readouterr().err
    assert "no claim is called 'theorem'" in complaint
    assert "theorem-1" in complaint
    assert complaint.count("\n") == 1
