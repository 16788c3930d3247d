"""The keeper loses sight of no descendant, and ends them all when nobody waits for it any more."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kappaguard.verify.process import keeper

pytestmark = pytest.mark.skipif(not keeper.LINUX, reason="this system does not show its processes")

EXIT_THREAD = {"x86_64": 60, "aarch64": 93}
"""The number of the system call that ends one thread."""

HEADLESS = """
import ctypes, subprocess, sys, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print(subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL).pid, flush=True)
ctypes.CDLL(None).syscall({number}, 0)
"""
"""A process whose first thread ends while another goes on: the system shows it as a zombie that has a child."""


def state(process: int) -> str:
    """The letter of a process's state; empty if there is no such process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def wait_until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def headless():
    """The code of a process that loses its first thread, and keeps a child in a session of its own."""
    number = EXIT_THREAD.get(platform.machine())
    if number is None:
        pytest.skip("the number of the system call is not known here")
    return HEADLESS.format(number=number)


def test_the_children_of_what_looks_like_a_zombie_are_seen(headless):
    with subprocess.Popen([sys.executable, "-c", headless], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            wait_until(lambda: state(process.pid) == "Z")
            assert child in keeper.descendants(os.getpid())
            assert process.pid not in keeper.descendants(os.getpid())
        finally:
            os.kill(child, signal.SIGKILL)
            process.kill()


@pytest.mark.parametrize("way", ["request", "nobody reads"])
def test_all_are_ended(headless, way):
    listening, telling = os.pipe()
    kept = [sys.executable, "-I", "-S", keeper.__file__, str(telling), "1000", str(1 << 40)]
    command = [*kept, sys.executable, "-c", headless]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=(telling,), text=True) as process:
        os.close(telling)
        assert process.stdout is not None
        child = int(process.stdout.readline())
        try:
            if way == "request":
                process.terminate()
            else:
                os.close(listening)
            assert process.wait(60) == 0
            assert state(child) == ""
        finally:
            process.kill()
    if way == "request":
        assert os.read(listening, 1 << 12) == b'{"status": null, "crossed": "request"}'
        os.close(listening)
