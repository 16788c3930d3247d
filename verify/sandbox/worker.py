"""The other side of the sandbox: one inquiry, its verdict in a file, then the end of the process."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from kappaguard.rules.errors import InputError
from kappaguard.rules.files import write
from kappaguard.verify.inquiry import inquire
from kappaguard.verify.sandbox.process import end_with_parent, limit_memory
from kappaguard.verify.sandbox.request import ERROR, FORKS, PHASE, REQUEST, RESULT, request_from_json


def work(folder: Path) -> None:
    """Carry out the request in the folder, and leave the verdict or the error of the request there."""
    request = request_from_json((folder / REQUEST).read_text(encoding="utf-8"))
    end_with_parent()
    limit_memory(request.memory)
    forks = 0

    def forked() -> None:
        nonlocal forks
        forks += 1

    def begin(phase: str) -> None:
        write(folder / PHASE, phase)
        # some rules collect garbage in every call, and would walk through all that we and they have imported
        gc.freeze()

    os.register_at_fork(before=forked)
    try:
        verdict = inquire(request.inquiry, request.known, begin)
    except InputError as error:
        write(folder / ERROR, " ".join(str(error).split()))
        return
    except MemoryError:
        write(folder / ERROR, f"it needs more than {request.memory >> 20} MiB of memory; raise --memory")
        return
    write(folder / FORKS, str(forks))
    write(folder / RESULT, verdict.to_json())


if __name__ == "__main__":
    work(Path(sys.argv[1]))
    sys.stdout.flush()
    # threads and exit hooks of the rule are not waited for
    os._exit(0)
