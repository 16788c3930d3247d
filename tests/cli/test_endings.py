"""Whoever ends a command ends all that it has started, and keeps what it has found."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLOW = """import os
import subprocess
import time
from pathlib import Path

import numpy as np


begun = []


def rule(x, f):
    if not begun:
        begun.append(subprocess.Popen(["sleep", "1000"], start_new_session=True))
        with Path("children").open("a") as stream:
            stream.write(f"{begun[0].pid} {os.getpid()}\\n")
    time.sleep(0.5)
    return np.median(x, axis=0)
"""


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def began(project: Path) -> None:
    """Wait until the rule has written down whole what it started."""
    deadline, children = time.monotonic() + 120, project / "children"
    while not (children.exists() and children.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show its processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killing_a_sweep_leaves_no_orphans(project, number):
    (project / "slow.py").write_text(SLOW)
    asked = ["sweep", "slow.py:rule", "--at", "5,1", "--evaluations", "9999", "--jobs", "1"]
    command = [sys.executable, "-m", "kappaguard", *asked]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        began(project)
        process.send_signal(number)
        process.wait(20)
    deadline = time.monotonic() + 30
    pids = [int(each) for each in (project / "children").read_text().split()]
    assert len(pids) == 2
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not show its processes")
def test_an_interrupt_ends_a_dossier_with_what_it_has(project):
    (project / "slow.py").write_text(SLOW.replace("0.5)", "0.5 if Path('out/late').exists() else 0)"))
    asked = ["stress", "slow.py:rule", "-n", "5", "-f", "1", "--out", "out", "--jobs", "2"]
    command = [sys.executable, "-m", "kappaguard", *asked]
    with subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 90
        # the first section is told when it is finished
        assert process.stderr is not None
        assert process.stderr.readline().strip() == "health"
        (project / "out" / "late").touch()
        time.sleep(0.5)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=max(1.0, deadline - time.monotonic()))
        taken = time.monotonic() - start
    assert process.returncode == 130
    assert taken < 10, "2 s on an idle machine"
    assert "interrupted" in output
    answer = json.loads((project / "out" / "dossier.json").read_text())
    assert list(answer["sections"]) == ["health"]
    assert answer["interrupted"] is True
    pids = [int(each) for each in (project / "children").read_text().split()]
    time.sleep(0.2)
    assert not any(map(alive, pids))
