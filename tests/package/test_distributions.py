"""The wheel and the sdist hold all of the package, once, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOMS = ("rules", "search", "training", "verify", "reports")


def modules_of(source: Path) -> set[str]:
    """Every module of every room, under its import name."""
    face = {
        "kappaguard" / path.relative_to(source / "src/kappaguard")
        for path in (source / "src/kappaguard").rglob("*.py")
        if path.relative_to(source / "src/kappaguard").parts[0] not in ROOMS
    }
    rooms = {"kappaguard" / path.relative_to(source) for room in ROOMS for path in (source / room).rglob("*.py")}
    return {path.as_posix() for path in face | rooms}


def test_the_wheel_holds_every_module_once(built):
    with zipfile.ZipFile(built.wheel) as wheel:
        names = wheel.namelist()
    assert len(names) == len(set(names))
    assert {name for name in names if name.endswith(".py")} == modules_of(built.source)
    assert "kappaguard/verify/unlisted/deeper/module.py" in names


def test_the_wheel_is_typed_and_holds_nothing_but_the_package(built):
    with zipfile.ZipFile(built.wheel) as wheel:
        names = wheel.namelist()
    assert "kappaguard/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"kappaguard"}
    endings = {Path(name).suffix for name in names if name.startswith("kappaguard/")}
    assert endings <= {".py", ".typed", ".so", ".pyd", ".toml", ".j2", ".css", ".js", ".json"}
    assert "kappaguard/reports/templates/index.html.j2" in names
    assert "kappaguard/training/presets/mnist.toml" in names


def test_a_compiled_wheel_serves_every_later_python(built):
    with zipfile.ZipFile(built.wheel) as wheel:
        compiled = [name for name in wheel.namelist() if "_kernels" in name or "_blocks" in name]
    if compiled:
        assert len(compiled) == 2
        assert "-cp311-abi3-" in built.wheel.name
        assert all("abi3" in name for name in compiled) or os.name == "nt"


def test_the_sdist_holds_all_sources_and_no_link(built):
    with tarfile.open(built.sdist) as sdist:
        members = sdist.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    assert not [member.name for member in members if member.issym() or member.islnk()]
    assert not [name for name in names if name.startswith(tuple(f"src/kappaguard/{room}/" for room in ROOMS))]
    kernels = {path.relative_to(built.source).as_posix() for path in built.source.glob("*/native/*.[ch]")}
    tests = {path.relative_to(built.source).as_posix() for path in (built.source / "tests").rglob("*.py")}
    assert names >= kernels | tests | {"constraints.txt", "Makefile", "LICENSE", "CITATION.cff"}


def test_without_a_compiler_the_wheel_is_pure_python_and_whole(checkout, tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w"]
    environment = {**os.environ, "CC": "no-such-compiler", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*command, str(tmp_path), str(checkout)], check=True, capture_output=True, env=environment)
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
    assert not [name for name in names if "_kernels" in name or "_blocks" in name]
    assert {name for name in names if name.endswith(".py")} == modules_of(checkout)
