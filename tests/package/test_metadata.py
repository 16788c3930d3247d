"""What is stated in more than one place is stated alike."""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from importlib.metadata import distributions, version
from itertools import chain
from pathlib import Path

import pytest

import kappaguard

ROOMS = ("rules", "search", "training", "verify", "reports")


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement.strip())[0].lower().replace("_", "-")


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(repository: Path) -> dict[str, str]:
    """The versions that the constraints state."""
    stated = lines_of(repository / "constraints.txt")
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9]+(\.[0-9]+)*(\.post[0-9]+)?", pin) for pin in stated)
    listed = dict(pin.split("==") for pin in stated)
    assert len(listed) == len(stated)
    return listed


def test_constraints_pin_every_direct_dependency(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    direct = [*project["build-system"]["requires"], *project["project"]["dependencies"], *chain(*extras)]
    direct += lines_of(repository / "requirements-peers.txt")
    direct += lines_of(repository / "requirements-peers-imports.txt")
    assert {name_of(requirement) for requirement in direct} <= pins(repository).keys()


@pytest.mark.skipif(not Path(sys.prefix, ".development").exists(), reason="not the environment that the Makefile makes")
def test_constraints_pin_all_that_is_installed(repository):
    """What the Makefile installed, transitive packages included; a local build such as +cpu is the same version."""
    # not what a library put on the path for itself, as ray does
    where = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    installed = {canonical(each.metadata["Name"]): each.version.partition("+")[0] for each in distributions(path=where)}
    for ours in ("kappaguard", "pip"):
        installed.pop(ours, None)
    assert installed == pins(repository)


def test_the_guard_needs_nothing_of_the_training(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    needed = {name_of(requirement) for requirement in project["dependencies"]}
    train = {name_of(requirement) for requirement in project["optional-dependencies"]["train"]}
    assert train == {"torch", "scikit-learn", "pooch"}
    assert not needed & train


@pytest.mark.parametrize("name", ["action.yml", "examples/ci-guard/.github/workflows/guard.yml"])
def test_actions_are_pinned_by_commit(repository, name):
    """A tag can be moved to other code; kappaguard's own is left to its reader."""
    used = re.findall(r"uses: (\S+)@(\S+)", (repository / name).read_text())
    foreign = {action: version for action, version in used if not action.startswith("kappaguard/")}
    assert foreign
    assert all(re.fullmatch("[0-9a-f]{40}", version) for version in foreign.values())


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
