"""What README and docs say can be run as it stands, and the site builds."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from kappaguard.cli import main
from kappaguard.reports.write import write_report
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.theory.claim import Effort
from kappaguard.verify.theory.registry import claims
from kappaguard.verify.theory.run import results, run, write_witnesses

from .commands import GUIDES, LONG, PAGES, ROOT, SHORTER, blocks, commands, excuse, shortened

REFUTED = (
    "mine.py:centre_of_half -n 9 -f 2 --claim",
    "diff mine.py:trimmed cwtm",
    "byzfl:GeometricMedian",
    "strategy:MultiKrum -n 11",
)
"""Commands that end with exit code 1, as the pages say."""


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda text: text.splitlines()[0])
@pytest.mark.solver
def test_snippet(page: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page, "exec"), {"__name__": "snippet"})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make verify` writes, of one claim."""
    where = tmp_path_factory.mktemp("verified") / "kappa-report"
    outcomes = list(run([claim for claim in claims() if claim.name == "theorem-1"], Effort.QUICK, where))
    write_witnesses(outcomes, where)
    write_report(results(outcomes, Effort.QUICK, complete=True), where)
    return where


@pytest.mark.parametrize("page", [page for page in GUIDES if commands(page)], ids=lambda page: page.name)
@pytest.mark.solver
def test_commands(page: Path, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, in a folder with the file that the reader is told to write and the report of an earlier
    run."""
    (code,) = {code for _, code in blocks("py")}
    (tmp_path / "mine.py").write_text(code)
    shutil.copytree(report, tmp_path / "kappa-report")
    monkeypatch.chdir(tmp_path)
    for command in commands(page):
        peers = [peer for peer in ("byzfl", "flwr") if re.search(rf"\b{peer}[.:]", command)]
        if excuse(command) or any(importlib.util.find_spec(peer) is None for peer in peers):
            continue
        program, *words = shlex.split(shortened(command))
        assert program == "kappaguard"
        assert main(words) == (1 if any(part in command for part in REFUTED) else 0), command


@pytest.mark.parametrize("command", sorted({each for page in GUIDES for each in commands(page) if excuse(each)}))
def test_command_that_is_not_run(command: str) -> None:
    pytest.skip(f"{command[:50]}: {excuse(command)}")


MYLIB = """
import kappaguard as kg


def Mine(x, f):
    return kg.rule("cwtm", f=f)(x)
"""


@pytest.mark.parametrize("code", sorted({code for _, code in blocks("toml")}))
@pytest.mark.solver
def test_configuration(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes into pyproject.toml, with a library that has the rule that it names, and fewer evaluations."""
    assert "evaluations" not in code
    (tmp_path / "pyproject.toml").write_text(code.replace("[tool.kappaguard]", "[tool.kappaguard]\nevaluations = 200"))
    (tmp_path / "mylib").mkdir()
    (tmp_path / "mylib" / "__init__.py").touch()
    (tmp_path / "mylib" / "rules.py").write_text(MYLIB)
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 0


def test_nothing_is_excused_that_is_not_there() -> None:
    every = [command for page in GUIDES for command in commands(page)]
    for beginning in LONG:
        assert any(re.match(beginning, command) for command in every), beginning
    for pattern in SHORTER:
        assert any(re.search(pattern, command) for command in every), pattern


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_claims_are_counted() -> None:
    counts = Counter(claim.expected for claim in claims())
    readme, findings = PAGES[0].read_text(), (ROOT / "docs" / "findings.md").read_text()
    assert f"checks {len(claims())} claims" in readme
    assert f"Of the\n{counts['refuted']} that fail" in readme
    assert f"all {len(claims())} claims and writes a report; {counts['refuted']} of them" in findings


@pytest.mark.solver
def test_the_table_of_the_readme_is_what_the_program_finds() -> None:
    rows = re.findall(r"(?m)^\| (\w+) \| ([\d.]+) \| [^|]* \| (?:[\d.]+|left open) \|", PAGES[0].read_text())
    assert [rule for rule, _ in rows] == ["cwtm", "cwmed", "gm", "multikrum", "meamed", "mda", "krum"]
    for rule, stated in rows:
        found = exact(rule, 17, 4)
        assert float(found.lower) == pytest.approx(float(stated), abs=6e-5)
        assert float(found.upper) == pytest.approx(float(stated), abs=6e-5)


def test_the_reference_is_what_the_program_says() -> None:
    from kappaguard.reference import reference

    assert (ROOT / "docs" / "reference.md").read_text() == reference(), "run python -m kappaguard.reference docs"


def test_the_words_are_those_of_the_report() -> None:
    from kappaguard.reports.glossary import words_page

    written = (ROOT / "docs" / "explanation" / "words.md").read_text()
    assert written == words_page(), "run python -m kappaguard.reports.glossary docs"


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("MkDocs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "explanation" / "kappa-star.html").exists()
