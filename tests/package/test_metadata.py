"""What is stated in more than one place is stated alike."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import pytest

import kappaguard

ROOMS = ("rules", "search", "training", "verify", "reports")


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement.strip())[0].lower().replace("_", "-")


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def test_constraints_pin_every_direct_dependency(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    direct = [*project["build-system"]["requires"], *project["project"]["dependencies"], *chain(*extras)]
    direct += lines_of(repository / "requirements-peers.txt")
    direct += lines_of(repository / "requirements-peers-imports.txt")
    pins = lines_of(repository / "constraints.txt")
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin) for pin in pins)
    assert {name_of(pin) for pin in pins} == {name_of(requirement) for requirement in direct}


def test_the_version_is_the_same_everywhere(repository):
    stated = f"version: {kappaguard.__version__}\n"
    assert version("kappaguard") == kappaguard.__version__
    assert stated in (repository / "CITATION.cff").read_text()
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    assert project["project"]["version"] == kappaguard.__version__


@pytest.mark.parametrize("room", ROOMS)
def test_type_checkers_find_the_room(repository, room):
    link = repository / "src" / "kappaguard" / room
    if not link.exists():
        pytest.skip("an unpacked sdist has no links")
    assert link.resolve() == repository / room
    assert str(link.readlink()) == f"../../{room}"
