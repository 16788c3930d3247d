"""The small install: an environment with what kappaguard itself needs and nothing of its extras.

It is made of links to what is installed here, for the dependencies as the package states them and theirs in turn.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

EXTRAS = ("torch", "sklearn", "pooch", "cvxpy", "scs")
RULES = """import numpy as np


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def mean(x, f):
    return x.mean(axis=0)
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(name: str, installed: dict[str, Distribution]) -> set[str]:
    """A distribution with all that it needs, without extras."""
    found, left = set(), [name]
    while left:
        here = left.pop()
        if here not in found and here in installed:
            found.add(here)
            wanted = map(Requirement, installed[here].requires or ())
            left += [
                canonical(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})
            ]
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of the small environment."""
    folder = tmp_path_factory.mktemp("small")
    venv.create(folder, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    installed = {canonical(each.metadata["Name"]): each for each in distributions()}
    for name in needed("kappaguard", installed):
        distribution = installed[name]
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            place, link = Path(str(distribution.locate_file(top))), packages / top
            if place.exists() and not link.exists():
                link.symlink_to(place)
    return folder / "bin" / "python"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(RULES)
    return tmp_path


def run(python: Path, project: Path, *arguments: str) -> tuple[int, str, str]:
    command = [str(python), "-m", "kappaguard", *arguments]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_it_has_none_of_the_extras(python, project):
    code = f"import importlib.util as u, kappaguard; print([n for n in {EXTRAS} if u.find_spec(n)])"
    done = subprocess.run([str(python), "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (
            ["check", "mine.py:trimmed", "-n", "7", "-f", "2", "--claim", "f/(n-2*f)", "--evaluations", "600"],
            0,
            "proved",
        ),
        (["check", "mine.py:mean", "-n", "7", "-f", "2", "--claim", "9"], 1, "refuted"),
        (["check", "krum", "-n", "7", "-f", "2"], 0, "proved"),
        (["check", "monna", "-n", "7", "-f", "2", "--claim", "9"], 1, "refuted"),
        (["exact", "krum", "-n", "7", "-f", "2"], 0, "exact"),
        (["search", "nnm+krum", "-n", "7", "-f", "2", "--evaluations", "600"], 0, "kappa* >="),
        (["verify", "--only", "theorem-1", "--only", "lemma-1-nnm-sharp"], 0, "1 proved, 1 refuted"),
        (["rules"], 0, "multikrum"),
    ],
)
@pytest.mark.solver
def test_the_guard_works(python, project, arguments, status, said):
    found, output, complaint = run(python, project, *arguments)
    assert (found, complaint) == (status, "")
    assert said in output


@pytest.mark.solver
def test_a_dossier_leaves_its_training_out(python, project):
    asked = ["stress", "mine.py:trimmed", "-n", "5", "-f", "1", "--evaluations", "100", "--out", "out", "--json"]
    status, output, complaint = run(python, project, *asked)
    assert status == 0, complaint
    answer = json.loads(output)
    reason = "it needs torch: pip install 'kappaguard[train]'"
    assert answer["failed"] == {"training": reason, "happens": reason}
    assert answer["sections"]["grid"]["rows"]
    (witness, *_) = sorted((project / "out" / "witnesses").iterdir())
    assert run(python, project, "replay", "--run-code", str(witness))[0] == 0


@pytest.mark.parametrize("command", [["train", "--steps", "1"], ["reproduce", "table2", "--steps", "1"]])
def test_training_says_what_is_missing(python, project, command):
    status, output, complaint = run(python, project, *command)
    assert (status, output) == (2, "")
    assert complaint.count("\n") == 1
    assert "pip install 'kappaguard[train]'" in complaint


def test_a_rule_on_tensors_says_what_is_missing(python, project):
    given = ["-n", "7", "-f", "2", "--claim", "9"]
    status, _, complaint = run(python, project, "check", "mine.py:mean(backend='torch')", *given)
    assert status == 2
    assert "takes torch tensors, and torch does not import" in complaint
