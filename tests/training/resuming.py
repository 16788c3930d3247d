"""Run by both processes of ``test_resume.py``: runs that diverge, are resumed, and are not theirs to resume."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from torch import distributed

from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed import run as runs
from kappaguard.training.distributed.group import join, leave
from kappaguard.training.folder import Folder


def main(large: str, small: str, alone: str, out: str) -> None:
    group = join("cpu")
    runs.join, runs.leave = lambda device: group, lambda: None
    runs.STEPS_BETWEEN_CHECKPOINTS = 4
    diverging, usual = (Configuration().with_values(json.loads(each)) for each in (large, small))
    found = [runs.run_distributed(diverging, Path(out), "large"), runs.run_distributed(usual, Path(out), "small")]
    folder = Folder(Path(out) / "small-1")
    before = folder.rows()
    distributed.barrier()
    if group.rank == 1:
        assert sorted(path.stem[-4:] for path in folder.path.glob("checkpoint-1*")) == ["f2-4", "f2-8"]
        (folder.path / "checkpoint-1of2-8.pt").unlink()
    distributed.barrier()
    found.append(runs.run_distributed(usual, Path(out), "small", folder.path))
    try:
        runs.run_distributed(usual, Path(out), "small", Path(alone))
    except InputError as error:
        print(error)
    statuses = [done[1].status for done in found if done is not None]
    print(json.dumps([statuses, before, folder.rows()]))
    leave()


if __name__ == "__main__":
    main(*sys.argv[1:])
