"""The report as text: what it says, and that nothing in it can break out."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kappaguard.cli import main
from kappaguard.reports.baseline import changes
from kappaguard.reports.glossary import WORDS
from kappaguard.reports.highlights import highlights
from kappaguard.reports.markdown import MOST_CHARACTERS, markdown
from kappaguard.reports.page import page
from kappaguard.reports.results import read, save, validate
from kappaguard.reports.summary import told
from kappaguard.reports.training import stored_run
from kappaguard.reports.write import copy_files, require_ours, write_report
from kappaguard.rules.base.errors import InputError

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


@pytest.fixture(scope="module")
def reader() -> Reader:
    return parsed(page(results()))


def test_names_are_shown_and_not_run(reader: Reader) -> None:
    assert reader.tags.count("script") == 2
    assert any(HOSTILE in piece for piece in reader.text)


def test_markdown_is_escaped() -> None:
    text = markdown(results())
    assert HOSTILE not in text
    outside_of_code = re.sub(r"(?<!\\)`[^`]*`", "", text)
    assert "script" in outside_of_code
    assert "<script" not in outside_of_code.replace("\\<script", "")


def test_everything_is_in_the_page_itself(reader: Reader) -> None:
    assert not any(link.startswith(("http:", "https:", "//", "/")) for link in reader.links)
    assert "link" not in reader.tags
    assert "img" not in reader.tags


def test_numbers_link_to_their_proofs_and_data_can_be_downloaded(reader: Reader) -> None:
    data, links = results(), reader.links
    for each in data["kappa"]:
        if (each["n"], each["f"]) == (17, 4):
            assert each["witness"] in links
            assert each["certificate"] in links
    tables = [link for link in links if link.startswith("data:text/csv;base64,")]
    assert len(tables) == 6
    first = base64.b64decode(tables[0].partition(",")[2]).decode().splitlines()
    assert first[0] == "rule,n,f,lower,upper,paper,witness,certificate,command"
    assert len(first) == 1 + 16


def test_the_gravest_findings_come_first() -> None:
    data = results()
    sentences = [str(each["text"]) for each in highlights(told(data), data["kappa"])]
    assert len(sentences) == 3
    assert sentences[0].startswith("theorem-9 is refuted")
    assert "nnm in front of cwtm makes its worst case 4 times worse" in sentences[1]
    assert "coefficient of cwtm is 20 times kappa*" in sentences[2]


def test_without_findings_nothing_is_made_up() -> None:
    data = results() | {"claims": [claim("proposition-9", "proved")]}
    assert highlights(told(data), []) == []


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
    bare = {key: now[key] for key in ("version", "effort", "complete", "changed", "claims")}
    assert "Since the last report" in page(bare, told)
    assert "Nothing changed" in page(bare, [])
    assert "Since the last report" not in page(bare, None)


def test_another_effort_and_other_numbers_are_changes() -> None:
    before, now = results(), results()
    now["effort"] = "full" if before["effort"] != "full" else "quick"
    now["claims"][0]["computed"] = 77.5
    told = changes(now, before)
    assert len(told) == 2
    assert told[0].startswith("another effort: that report is of kappaguard verify")
    assert told[0].endswith(f"--{now['effort']}")
    assert "as before; computed was" in told[1]
    assert told[1].endswith("and is 77.5")


def test_markdown_is_cut_when_thousands_of_things_changed() -> None:
    told = [f"the lower bound of a rule at n = {k}, f = 1 was 1 and is 2" for k in range(5000)]
    text = markdown(results(), told)
    assert len(text) <= MOST_CHARACTERS
    shown = text.count("the lower bound of a rule")
    assert 0 < shown < 5000
    assert f"and {5000 - shown} more" in text
    assert "## Claims" in text


def test_the_paper_is_named_and_the_words_are_explained(reader: Reader) -> None:
    text = "".join(reader.text)
    for said in (text, markdown(results())):
        assert "Fixing by Mixing: A Recipe for Optimal Byzantine ML under Heterogeneity" in said
        assert "Allouah, Farhadkhani, Guerraoui, Gupta, Pinot, Stephan, AISTATS 2023" in said
    assert text.index("Fixing by Mixing") < text.index("Verdicts")
    for words in WORDS.values():
        assert all(word in reader.text for word in words)


def test_bounds_are_rounded_outward() -> None:
    data = results()
    here = next(each for each in data["kappa"] if (each["rule"], each["n"], each["f"]) == ("cwtm", 17, 4))
    here["lower"], here["upper"] = 1.23458, 1.23642
    assert ">1.2345</a>" in page(data)
    assert ">1.2365</a>" in page(data)
    assert "[1.2345](" in markdown(data)
    assert "[1.2365](" in markdown(data)


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
    assert "| in the paper | 1 | 2 | 0 |" in (second / "report.md").read_text()


def test_a_page_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    require_ours(tmp_path / "new")
    write_report(results(), tmp_path / "ours")
    require_ours(tmp_path / "ours")
    (tmp_path / "index.html").write_text("<title>My site</title>")
    with pytest.raises(InputError, match="would be written over"):
        require_ours(tmp_path)
    (tmp_path / "results.json").write_text((tmp_path / "ours" / "results.json").read_text())
    assert main(["report", str(tmp_path / "ours"), "--out", str(tmp_path)]) == 2
    assert (tmp_path / "index.html").read_text() == "<title>My site</title>"


def test_a_run_without_measured_steps_is_refused(tmp_path: Path) -> None:
    for log in ("", '{"step": 1}\n', '{"step": 1, "ratio": Infinity}\n'):
        (tmp_path / "log.jsonl").write_text(log)
        with pytest.raises(InputError, match="no step with a finite ratio"):
            stored_run(tmp_path)


def test_the_picture_of_searches_has_the_commands_of_all(tmp_path: Path) -> None:
    data = results()
    first = data["searches"][0]
    data["searches"] = [first, {**first, "rule": "mda", "command": "kappaguard search mda -n 17 -f 4"}]
    text = page(data)
    for each in data["searches"]:
        assert f"<code>{each['command']}</code>" in text
