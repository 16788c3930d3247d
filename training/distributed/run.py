"""A whole run under torchrun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kappaguard.training.build import build, device_named
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.group import join, leave
from kappaguard.training.distributed.training import DistributedTraining
from kappaguard.training.folder import Folder
from kappaguard.training.messages import Diverged

STEPS_BETWEEN_CHECKPOINTS = 25


class RankLost(Exception):
    """Another process is gone; the run can be continued from its folder."""


def run_distributed(
    configuration: Configuration, out: Path, name: str, resume: Path | None = None
) -> tuple[Path, dict[str, Any]] | None:
    """Take part in a run; process 0 gets its folder and what came out, the others None."""
    group = join(device_named(configuration.device).type)
    try:
        training = DistributedTraining.of(build(configuration), group)
        path = resume
        if path is None:
            path = group.agree(Folder.create(out, name, configuration).path if group.rank == 0 else None)
        assert path is not None
        folder = Folder(path)
        folder.require_processes(group.size)
        begun = training.restore(path)
        if group.rank == 0:
            folder.forget_after(training.number if begun else -1)
        if not begun:
            training.save(path)
        status = "finished"
        try:
            while training.number < configuration.steps:
                row = training.step()
                last = training.number == configuration.steps
                every = configuration.evaluate_every
                if group.rank == 0:
                    folder.log(row)
                    if every and (training.number % every == 0 or last):
                        found = training.problem.evaluate(training.theta)
                        folder.log({"step": training.number, "test_loss": found.loss, "accuracy": found.accuracy})
                if last or training.number % STEPS_BETWEEN_CHECKPOINTS == 0:
                    training.save(path)
        except Diverged:
            status = "diverged"
        except RuntimeError as error:
            raise RankLost(
                f"process {group.rank} lost another one in step {training.number + 1} "
                f"({str(error).splitlines()[0][:80]}); continue with --resume {path}"
            ) from None
        if group.rank != 0:
            return None
        tested = [row["accuracy"] for row in folder.rows() if row.get("accuracy") is not None]
        result = {"status": status, "steps": training.number, "best_accuracy": max(tested, default=None)}
        result |= {"output_step": training.output_step, "processes": group.size}
        folder.finish(result)
        return path, result
    finally:
        leave()
