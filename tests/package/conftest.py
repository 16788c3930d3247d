"""A copy of the repository to build from, and the wheel and sdist that come out of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS = ("rules", "search", "training", "verify", "reports")
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "*.so", "kappa-report"
)


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parents[2]


def copy_of(repository: Path, folder: Path) -> Path:
    shutil.copytree(repository, folder, symlinks=True, ignore=NOT_SOURCE)
    return folder


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A fresh copy of the sources, free to change."""
    return copy_of(repository, tmp_path / "checkout")


class Built:
    """What one build made, and the sources that it was made from."""

    def __init__(self, source: Path, output: Path) -> None:
        self.source = source
        (self.wheel,) = output.glob("*.whl")
        (self.sdist,) = output.glob("*.tar.gz")


@pytest.fixture(scope="session")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist of the sources, and the wheel built from that sdist and nothing else."""
    folder = tmp_path_factory.mktemp("build")
    source = copy_of(repository, folder / "source")
    # Nobody lists this package anywhere, and it has no __init__.py: it must be packed all the same.
    unlisted = source / "verify" / "unlisted" / "deeper"
    unlisted.mkdir(parents=True)
    (unlisted / "module.py").write_text("VALUE = 1\n")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return Built(source, folder / "dist")
