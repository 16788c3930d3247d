"""What README and docs say can be run as it stands, and the site builds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

LONG = {
    "kappaguard stress": "takes a minute: tests/reports/test_dossier.py runs a short one",
    "kappaguard check byzfl": "needs a peer: tests/cli/test_check.py runs it",
    "kappaguard train --preset mnist": "needs MNIST: tests/training/ runs it where the data are",
    "kappaguard train --resume": "needs that run: tests/training/ resumes one",
    "kappaguard train  ": "the same as the next with fewer options",
    "torchrun": "tests/training/ runs it with two ranks",
    "kappaguard reproduce": "takes hours; tests/training/ runs small ones",
}
"""Commands in console blocks that are not run here, by their beginning, with the reason."""


def blocks(kind: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for code in re.findall(rf"```{kind}\n(.*?)```", page.read_text(), re.DOTALL):
            found.append((str(page.relative_to(ROOT)), code))
    return found


def commands() -> list[tuple[str, str]]:
    return [
        (page, line[2:].strip())
        for page, code in blocks("console")
        for line in code.splitlines()
        if line.startswith("$ ")
    ]


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda text: text.splitlines()[0])
def test_snippet(page: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page, "exec"), {"__name__": "snippet"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file that the pages tell the reader to write."""
    where = tmp_path_factory.mktemp("reader")
    files = {code for _, code in blocks("py")}
    assert len(files) == 1
    (where / "mine.py").write_text(files.pop())
    return where


@pytest.mark.parametrize(("page", "command"), commands(), ids=lambda text: text[:60])
def test_command(page: str, command: str, folder: Path) -> None:
    for beginning, reason in LONG.items():
        if command.startswith(beginning):
            pytest.skip(f"{command[:40]}: {reason}")
    words = shlex.split(command, comments=True)
    assert words[0] == "kappaguard"
    done = subprocess.run(
        [sys.executable, "-m", "kappaguard", *words[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    refuted = "f/(n-2*f)" in command and "mine.py" in command
    assert done.returncode == (1 if refuted else 0), done.stderr


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_reference_is_what_the_program_says() -> None:
    from kappaguard.reference import reference

    assert (ROOT / "docs" / "reference.md").read_text() == reference(), "run python -m kappaguard.reference docs"


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="MkDocs is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "explanation" / "kappa-star.html").exists()
