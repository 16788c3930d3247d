"""A module run in a process of its own, ended with all that it started when its time is over."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kappaguard.verify.process import keeper

MOST_PRINTED = 64 << 10
MEMORY = 4 << 30
BACKSTOP = 10.0
"""Seconds after which a keeper that should have ended is ended itself."""
TOKEN = "KAPPAGUARD_SANDBOX"
_RUNNING: set[int] = set()

LIMITS = {
    "memory": "it and what it started hold more memory than is allowed",
    "processes": f"it started more than {keeper.MOST_PROCESSES} processes",
    "request": "it was asked to end",
    "keeper": "it ended the process that watched over it",
}
"""The limits besides time, in words."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status, None if it had to be ended, why, and the beginning of what it printed."""

    status: int | None
    printed: str
    crossed: str | None = None

    @property
    def how(self) -> str:
        """How the process ended, in words."""
        if self.status is None:
            return LIMITS.get(self.crossed or "", "no end")
        if self.status >= 0:
            return f"status {self.status}"
        try:
            return f"signal {signal.Signals(-self.status).name}"
        except ValueError:
            return f"signal {-self.status}"


def run_module(module: str, folder: Path, seconds: float, memory: int = MEMORY) -> Ended:
    """Run ``python -m module folder`` for so many seconds at most; when it ends, so does all that it started."""
    # -P: the current folder is the user's, and must not hide modules of the standard library
    command = [sys.executable, "-P", "-m", module, str(folder)]
    token = secrets.token_hex(16)
    listening, telling = os.pipe()
    watching = [sys.executable, "-I", "-S", keeper.__file__, str(telling), str(seconds), str(memory), *command]
    try:
        process = subprocess.Popen(
            watching,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(telling,),
            env={**os.environ, TOKEN: token},
        )
    finally:
        os.close(telling)
    assert process.stdout is not None
    kept = bytearray()
    reader = threading.Thread(target=_drain, args=(process.stdout, kept), daemon=True)
    reader.start()
    _RUNNING.add(process.pid)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds + BACKSTOP)
    finally:
        _stop(process, token)
        _RUNNING.discard(process.pid)
        told = os.read(listening, 1 << 12)
        os.close(listening)
    reader.join(1.0)
    if not reader.is_alive():
        process.stdout.close()
    status, crossed = _told(told)
    return Ended(status, bytes(kept).decode("utf-8", errors="replace"), crossed)


def _told(text: bytes) -> tuple[int | None, str | None]:
    """What the keeper said; it says nothing if the worker ended it."""
    try:
        data = json.loads(text)
        return data["status"], data["crossed"]
    except (ValueError, KeyError, TypeError):
        return None, "keeper"


def _stop(process: subprocess.Popen[bytes], token: str) -> None:
    """Have the keeper end everything; if it is gone before its time, end whoever carries its token."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(BACKSTOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.returncode:
        for straggler in _carriers(token):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(straggler, signal.SIGKILL)


def _carriers(token: str) -> list[int]:
    """The processes that inherited the token, where the system shows environments (Linux)."""
    found = []
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def end_all() -> None:
    """End every worker of this process, so that the threads that wait for them return."""
    for process in tuple(_RUNNING):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGTERM)


def limit_memory(memory: int) -> None:
    """Bound the address space of this process, and leave no core files behind."""
    try:
        import resource
    except ImportError:
        # there is no such limit on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Have the system end this process when its keeper dies, where it knows how to (Linux)."""
    keeper.control(keeper.SET_DEATH_SIGNAL, signal.SIGKILL)


def _drain(stream: IO[bytes], kept: bytearray) -> None:
    """Keep the beginning and read on, so that a rule that prints without end is not stopped by a full pipe."""
    with contextlib.suppress(OSError, ValueError):
        while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
            kept += chunk[: MOST_PRINTED - len(kept)]
