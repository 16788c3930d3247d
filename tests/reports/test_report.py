"""The report as text: what it says, and that nothing in it can break out."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kappaguard.reports.baseline import changes
from kappaguard.reports.highlights import highlights
from kappaguard.reports.markdown import MOST_CHARACTERS, markdown
from kappaguard.reports.page import page
from kappaguard.reports.results import read, save, validate
from kappaguard.reports.table import RULES, Place, places, table
from kappaguard.reports.write import copy_files, write_report
from kappaguard.rules.errors import InputError
from kappaguard.rules.witness import load
from kappaguard.verify.checker import check
from kappaguard.verify.replay import replay

from .example import HOSTILE, claim, results


class Reader(HTMLParser):
    """Tags, links and visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key == "href" and value]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def test_names_are_shown_and_not_run() -> None:
    reader = parsed(page(results()))
    assert reader.tags.count("script") == 2
    assert any(HOSTILE in piece for piece in reader.text)


def test_markdown_is_escaped() -> None:
    text = markdown(results())
    assert "<script" not in text.replace("\\<script", "")
    assert HOSTILE not in text


def test_everything_is_in_the_page_itself() -> None:
    reader = parsed(page(results()))
    assert not any(link.startswith(("http:", "https:", "//", "/")) for link in reader.links)
    assert "link" not in reader.tags
    assert "img" not in reader.tags


def test_numbers_link_to_their_proofs_and_data_can_be_downloaded() -> None:
    data = results()
    links = parsed(page(data)).links
    for each in data["kappa"]:
        if (each["n"], each["f"]) == (17, 4):
            assert each["witness"] in links
            assert each["certificate"] in links
    tables = [link for link in links if link.startswith("data:text/csv;base64,")]
    assert len(tables) == 4
    first = base64.b64decode(tables[0].partition(",")[2]).decode().splitlines()
    assert first[0] == "rule,n,f,lower,upper,paper"
    assert len(first) == 1 + 16


def test_the_gravest_findings_come_first() -> None:
    data = results()
    told = [str(each["text"]) for each in highlights(data["claims"], data["kappa"])]
    assert len(told) == 3
    assert told[0].startswith("theorem-9 is refuted")
    assert "nnm in front of cwtm makes its worst case 4 times worse" in told[1]
    assert "coefficient of cwtm is 20 times kappa*" in told[2]


def test_without_findings_nothing_is_made_up() -> None:
    assert highlights([claim("proposition-9", "proved")], []) == []


def test_changes_since_the_last_report() -> None:
    before, now = results(), results()
    assert changes(now, before) == []
    now["claims"][0]["verdict"] = "proved"
    now["claims"].append(claim("lemma-10", "open"))
    del now["claims"][1]
    now["kappa"][0]["upper"] *= 1.01
    told = changes(now, before)
    assert [each.split(" ")[0] for each in told[:3]] == ["lemma-9", "lemma-10", "theorem-9"]
    assert told[3].startswith("the upper bound of cwtm at n = 17, f = 1 was")
    assert "Since the last report" in page(now, told)
    assert "Nothing changed" in page(now, [])
    assert "Since the last report" not in page(now, None)


def test_markdown_fits_into_a_comment() -> None:
    data = results()
    data["claims"] = [claim(f"proposition-{k}", "proved", detail="x" * 900) for k in range(90)]
    text = markdown(data)
    assert len(text) <= MOST_CHARACTERS
    assert "proposition-89" in text


def test_results_are_validated(tmp_path: Path) -> None:
    data = results()
    save(data, tmp_path)
    assert read(tmp_path) == json.loads(json.dumps(data))
    for path, value in [
        (("schema",), "other/1"),
        (("claims", 0, "verdict"), "maybe"),
        (("kappa", 0, "witness"), "../../etc/passwd"),
        (("kappa", 0, "witness"), "/etc/passwd"),
        (("kappa", 0, "witness"), "javascript:alert(1)"),
        (("kappa", 0, "lower"), "many"),
        (("drawings", 0, "honest"), [[1.0]]),
    ]:
        broken = json.loads(json.dumps(data))
        place = broken
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        with pytest.raises(InputError, match="damaged at"):
            validate(broken)


def test_files_that_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "text.json").write_text("no JSON")
    (tmp_path / "list.json").write_text("[]")
    for name, message in (("none.json", "cannot read"), ("text.json", "not JSON"), ("list.json", "does not hold")):
        with pytest.raises(InputError, match=message):
            read(tmp_path / name)


def test_the_table_has_files_that_prove_it(tmp_path: Path) -> None:
    wanted = [Place("cwmed", 5, 1), Place("nnm+cwtm", 5, 1), Place("krum", 5, 1)]
    steps: list[int] = []
    entries = table(wanted, tmp_path, lambda done, total: steps.append(done), jobs=1)
    assert steps == [0, 1, 2, 3]
    for each in entries:
        witness = load(tmp_path / each["witness"])
        assert replay(witness).reproduces
        assert float(witness.lower) == each["lower"]
        certified = check((tmp_path / each["certificate"]).read_text())
        assert each["rule"].endswith(certified.rule)
        if "+" not in each["rule"]:
            assert float(certified.upper) == each["upper"]
    again: list[int] = []
    assert table(wanted, tmp_path, lambda done, total: again.append(done), jobs=1) == entries
    assert again == [3]


def test_the_default_grid_is_all_that_the_pictures_need() -> None:
    every = places("default")
    assert len(every) == len(set(every))
    assert {(each.n, each.f) for each in every if each.rule == "krum"} == {
        (n, f) for n in range(3, 18) for f in range(1, (n + 1) // 2)
    }
    assert [each.rule for each in places("quick")] == [*RULES, *(f"nnm+{rule}" for rule in RULES)]


def test_a_report_can_be_written_again_elsewhere(tmp_path: Path) -> None:
    data = results()
    first, second = tmp_path / "first", tmp_path / "second"
    write_report(data, first)
    (first / "witnesses").mkdir()
    (first / "witnesses" / "theorem-9.json").write_text("{}")
    missing = copy_files(read(first), first, second)
    assert (second / "witnesses" / "theorem-9.json").read_text() == "{}"
    assert "witnesses/lemma-9.json" in missing
    write_report(read(first), second)
    assert (second / "index.html").read_text() == (first / "index.html").read_text()
    assert re.search(r"2 refuted", (second / "report.md").read_text())
