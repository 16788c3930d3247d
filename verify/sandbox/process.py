"""A module run in a process of its own, ended with all that it started when its time is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MOST_PRINTED = 64 << 10
_RUNNING: set[int] = set()


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status, None if it had to be ended, and the beginning of what it printed."""

    status: int | None
    printed: str

    @property
    def how(self) -> str:
        """In words."""
        if self.status is None:
            return "no end"
        if self.status >= 0:
            return f"status {self.status}"
        try:
            return f"signal {signal.Signals(-self.status).name}"
        except ValueError:
            return f"signal {-self.status}"


def run_module(module: str, folder: Path, seconds: float) -> Ended:
    """Run ``python -m module folder`` in a process group of its own, for so many seconds at most."""
    # -P: the current folder is the user's, and must not hide modules of the standard library
    command = [sys.executable, "-P", "-m", module, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as worker:
        assert worker.stdout is not None
        kept = bytearray()
        reader = threading.Thread(target=_drain, args=(worker.stdout, kept), daemon=True)
        reader.start()
        _RUNNING.add(worker.pid)
        try:
            status: int | None = worker.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(worker.pid)
            worker.wait()
            _RUNNING.discard(worker.pid)
            reader.join(1.0)
    return Ended(status, bytes(kept).decode("utf-8", errors="replace"))


def end_all() -> None:
    """End every worker of this process, so that the threads that wait for them return."""
    for process in tuple(_RUNNING):
        _end(process)


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


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
    """Have the system end this process when its parent dies, where it knows how to (Linux)."""
    if sys.platform != "linux":
        return
    import ctypes

    set_death_signal = 1
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _drain(stream: IO[bytes], kept: bytearray) -> None:
    """Keep the beginning and read on, so that a rule that prints without end is not stopped by a full pipe."""
    with contextlib.suppress(OSError, ValueError):
        while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
            kept += chunk[: MOST_PRINTED - len(kept)]
