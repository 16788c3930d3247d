"""An experiment on a cluster gives the table of one process, and on a terminal it says how long it will take."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from kappaguard.cli import main
from kappaguard.training.reproduce import catalogue
from kappaguard.training.reproduce.catalogue import Experiment

PACKAGES = {"dask": "distributed", "ray": "ray"}


def stored(out) -> dict[str, str]:
    return {path.name: path.read_text() for path in out.glob("small-*.*")}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            engine,
            marks=pytest.mark.skipif(
                importlib.util.find_spec(package) is None, reason=f"{package} is not installed: no engine {engine}"
            ),
        )
        for engine, package in PACKAGES.items()
    ],
)
def test_an_engine_gives_the_same_table_as_one_process(engine, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    small = Experiment("Digits", "digits", (), ("nnm+cwtm",), ("sf", "foe"))
    monkeypatch.setitem(catalogue.EXPERIMENTS, "small", small)
    command = ["reproduce", "small", "--steps", "2", "--evaluate-every", "1"]
    assert main([*command, "--out", str(tmp_path / "serial")]) == 0
    serial = capsys.readouterr().out.partition("Stored")[0]
    assert main([*command, "--engine", engine, "--jobs", "2", "--out", str(tmp_path / engine)]) == 0
    assert capsys.readouterr().out.partition("Stored")[0] == serial
    assert serial.count("nnm+cwtm") == 2
    assert stored(tmp_path / engine) == stored(tmp_path / "serial")
    assert len(stored(tmp_path / engine)) == 3


def on_a_terminal(command: list[str]) -> str:
    """What a command writes to its standard error, if that is a terminal."""
    ours, theirs = os.openpty()
    given = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL, stderr=theirs, env=given)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # what Linux says when the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
def test_on_a_terminal_the_bars_show_cells_steps_and_the_time_left(tmp_path):
    command = ["-m", "kappaguard", "reproduce", "theorem2-regimes", "--steps", "700", "--out", str(tmp_path)]
    seen = on_a_terminal(command)
    assert re.search(r"cells [^\r\n]* [0-3]/3 ", seen)
    left = re.findall(r"cwtm sf seed 1 [^\r\n]* (\d+)/700 +(\d:\d\d:\d\d)", seen)
    assert any(0 < int(done) < 700 for done, _ in left)
    assert re.search(r"cells [^\r\n]* [12]/3 +\d:\d\d:\d\d", seen)
    assert not on_a_terminal([*command[:-2], "--help"])


def test_without_a_terminal_nothing_is_drawn(tmp_path):
    command = [sys.executable, "-m", "kappaguard", "reproduce", "theorem2-regimes", "--steps", "9"]
    found = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True)
    assert found.stderr == ""
