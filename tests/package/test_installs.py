"""An installed kappaguard leaves the names of its users alone, and an editable one follows the folders."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOMS = ("rules", "search", "training", "verify", "reports")

# Isolated from the environment's own kappaguard: its packages are on the path, its .pth files are not read.
PREAMBLE = """
import json, site, sys
installed, packages = sys.argv[1:3]
site.addsitedir(installed)
sys.path.append(packages)
"""


def files_of(modules: list[str], installed: Path, folder: Path) -> dict[str, str]:
    """Where a new interpreter, started in ``folder``, finds the modules when only ``installed`` is installed."""
    script = f"""{PREAMBLE}
sys.path.insert(0, "")
import importlib
print(json.dumps({{name: importlib.import_module(name).__file__ for name in {modules!r}}}))
"""
    command = [sys.executable, "-I", "-S", "-c", script, str(installed), sysconfig.get_path("purelib")]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found: dict[str, str] = json.loads(result.stdout)
    return {name: str(Path(folder, file).resolve()) for name, file in found.items()}


def test_a_project_with_folders_of_the_same_names_keeps_them(built, tmp_path):
    installed, project = tmp_path / "installed", tmp_path / "project"
    with zipfile.ZipFile(built.wheel) as wheel:
        wheel.extractall(installed)
    for room in ROOMS:
        (project / room).mkdir(parents=True)
        (project / room / "__init__.py").write_text("")
    files = files_of(["search", "training", "kappaguard.search", "kappaguard.training"], installed, project)
    for room in ("search", "training"):
        assert files[room] == str(project / room / "__init__.py")
        assert files[f"kappaguard.{room}"] == str(installed / "kappaguard" / room / "__init__.py")


@pytest.mark.parametrize("linked", [True, False], ids=["with links", "without links"])
def test_an_editable_install_sees_new_files(checkout, tmp_path, linked):
    if not linked:
        for room in ROOMS:
            (checkout / "src/kappaguard" / room).unlink()
    # the kernels are optional, take a while to compile, and have tests of their own
    for source in checkout.glob("*/native/*.c"):
        source.unlink()
    output, installed = tmp_path / "output", tmp_path / "installed"
    output.mkdir()
    hook = "import sys; from setuptools import build_meta; build_meta.build_editable(sys.argv[1])"
    subprocess.run([sys.executable, "-c", hook, str(output)], cwd=checkout, check=True, capture_output=True)
    (path,) = output.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(installed)
    (checkout / "verify/added").mkdir()
    (checkout / "verify/added/__init__.py").write_text("")
    (checkout / "search/added.py").write_text("")
    files = files_of(["kappaguard.verify.added", "kappaguard.search.added"], installed, tmp_path)
    assert files["kappaguard.verify.added"] == str(checkout / "verify/added/__init__.py")
    assert files["kappaguard.search.added"] == str(checkout / "search/added.py")
