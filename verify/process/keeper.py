"""The keeper of a worker: starts it, and ends it with all that it started.

``python -I -S keeper.py REPORT SECONDS MEMORY COMMAND...`` ends the command and every descendant of it when the command
ends by itself, when the seconds are over, when all of them together hold more bytes of memory than MEMORY, when there
are too many of them, or when whoever started the keeper is gone. How it went is written to the open pipe REPORT as one
line of JSON; that nobody is left to read it tells the keeper that whoever started it is gone.

On Linux the keeper adopts the orphans among its descendants (``PR_SET_CHILD_SUBREAPER``), so that neither a session of
its own nor a fork whose parent ends takes a process out of its sight. Every descendant then stands below a child of the
keeper's, so that none is left exactly when the keeper has no child. Elsewhere it ends the process group.

It imports nothing but the standard library, and little of that: it is there before the worker is.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

MOST_PROCESSES = 256
PULSE, INTERVAL = 0.01, 0.2
"""Seconds between two looks at the worker, and at its descendants."""
SET_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
LINUX = sys.platform == "linux"
PROCESSES = Path("/proc")
PAGE = os.sysconf("SC_PAGE_SIZE") if LINUX else 4096
REQUESTS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What asks the keeper to end the worker."""


def control(option: int, value: int) -> None:
    """Tell the system something about this process, if it is Linux."""
    if LINUX:
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants(process: int) -> list[int]:
    """All processes below a process that are not zombies, parents first.

    A zombie may have children still: a process whose first thread has ended is shown as one until its other threads
    have ended too, and keeps what it started for so long.
    """
    children: dict[int, list[int]] = {}
    zombies = set()
    for entry in PROCESSES.iterdir() if LINUX else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                state, parent = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(entry.name))
                if state == b"Z":
                    zombies.add(int(entry.name))
    found, left = [], [process]
    while left:
        below = children.pop(left.pop(), [])
        found += below
        left += below
    return [each for each in found if each not in zombies]


def memory_of(processes: list[int]) -> int:
    """The bytes that processes hold together; pages that several share are counted several times."""
    resident = 0
    for process in processes:
        with contextlib.suppress(OSError, ValueError, IndexError):
            resident += int((PROCESSES / str(process) / "statm").read_bytes().split()[1]) * PAGE
    return resident


def proportional(processes: list[int]) -> int:
    """The same with shared pages counted once, which takes longer to ask."""
    total = 0
    for process in processes:
        with contextlib.suppress(OSError, ValueError):
            lines = (PROCESSES / str(process) / "smaps_rollup").read_bytes().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss:"))
    return total


def reap(worker: int) -> tuple[int | None, bool]:
    """Take leave of whoever has ended: the wait status of the worker if it is among them, and is anybody left?"""
    ended = None
    try:
        while True:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return ended, True
            if process == worker:
                ended = status
    except ChildProcessError:
        return ended, False


def end(worker: int) -> None:
    """End the worker and all its descendants: first none of them runs on, so that none starts another."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    for _ in range(500):
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        if not reap(worker)[1]:
            return
        time.sleep(0.01)


def watch(worker: int, report: int, seconds: float, memory: int, requests: list[int]) -> tuple[int | None, str | None]:
    """The wait status of the worker if it ended by itself, or which limit it crossed."""
    listener = select.poll()
    listener.register(report, 0)
    until = time.monotonic() + seconds
    look = 0.0
    while True:
        status, _ = reap(worker)
        if status is not None:
            return status, None
        now = time.monotonic()
        if requests or now >= until:
            return None, "request" if requests else "time"
        if now >= look:
            look = now + INTERVAL
            processes = descendants(os.getpid())
            if len(processes) > MOST_PROCESSES:
                return None, "processes"
            if memory_of(processes) > memory and proportional(processes) > memory:
                return None, "memory"
        # with nothing to wait for, all that a poll can tell is that nobody reads the report any more
        if listener.poll(1000 * PULSE):
            return None, "request"


def main(arguments: list[str]) -> None:
    """Start one worker, and see to it that it ends."""
    report, seconds, memory, command = int(arguments[0]), float(arguments[1]), int(arguments[2]), arguments[3:]
    requests: list[int] = []
    for number in REQUESTS:
        signal.signal(number, lambda number, frame: requests.append(number))
    control(SET_CHILD_SUBREAPER, 1)
    control(SET_DEATH_SIGNAL, signal.SIGTERM)
    worker = subprocess.Popen(command, start_new_session=True).pid
    status, crossed = watch(worker, report, seconds, memory, requests)
    end(worker)
    code = None if status is None else os.waitstatus_to_exitcode(status)
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps({"status": code, "crossed": crossed}).encode())
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
