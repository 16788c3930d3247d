"""A whole run under torchrun."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from kappaguard.rules.base.errors import InputError
from kappaguard.training.build import device_named, parts_of
from kappaguard.training.configuration import Configuration
from kappaguard.training.distributed.group import join, leave
from kappaguard.training.distributed.training import DistributedTraining
from kappaguard.training.folder import Folder
from kappaguard.training.messages import Diverged
from kappaguard.training.problem import Problem
from kappaguard.training.run import Result, result_of
from kappaguard.training.testing import due_tests, evaluated

STEPS_BETWEEN_CHECKPOINTS = 25


class RankLost(Exception):
    """Another process is gone; the run can be continued from its folder."""


def run_distributed(
    configuration: Configuration,
    out: Path,
    name: str,
    resume: Path | None = None,
    created: Callable[[Problem, Folder], None] = lambda problem, folder: None,
) -> tuple[Folder, Result] | None:
    """Take part in a run; process 0 gets its folder and what came out, the others None.

    ``created`` is told, in process 0, of a new folder.
    """
    if configuration.keep_messages:
        raise InputError("messages are kept by runs of one process: leave out --keep-messages, or torchrun")
    group = join(str(device_named(configuration.device)))
    try:
        training = DistributedTraining.of(*parts_of(configuration), group)
        folder = _folder(training, configuration, out, name, resume, created)
        status = "finished"
        try:
            _carry_on(training, configuration, folder)
        except Diverged:
            status = "diverged"
        except RuntimeError as error:
            raise RankLost(
                f"process {group.rank} failed or lost another one in step {training.state.step} "
                f"({str(error).splitlines()[0][:80]}); continue with --resume {folder.path}"
            ) from None
        finally:
            folder.close()
        if group.rank != 0:
            return None
        result = result_of(training, folder.rows(), status, training.elapsed)
        folder.finish({**result.to_json(), "processes": group.size})
        return folder, result
    finally:
        leave()


def _folder(
    training: DistributedTraining,
    configuration: Configuration,
    out: Path,
    name: str,
    resume: Path | None,
    created: Callable[[Problem, Folder], None],
) -> Folder:
    """Where the run is kept, with its log and its state as they were at the last common checkpoint."""
    group = training.group
    if resume is None:
        made = group.agree(_new(training.problem, configuration, out, name, created) if group.rank == 0 else None)
        if isinstance(made, str):
            raise InputError(made)
        path = made
    else:
        path = resume
    folder = Folder(path)
    folder.require_processes(group.size)
    begun = training.restore(path)
    if group.rank == 0:
        folder.forget_after(training.state.step if begun else -1)
    if not begun:
        training.save(path)
    return folder


def _new(
    problem: Problem,
    configuration: Configuration,
    out: Path,
    name: str,
    created: Callable[[Problem, Folder], None],
) -> Path | str:
    """A new folder, or why there is none: all processes are to know."""
    try:
        folder = Folder.create(out, name, configuration)
    except InputError as error:
        return str(error)
    created(problem, folder)
    return folder.path


def _carry_on(training: DistributedTraining, configuration: Configuration, folder: Folder) -> None:
    """To the last step; process 0 keeps the log, the same that a single process keeps."""
    state, every, first = training.state, configuration.evaluate_every, training.group.rank == 0
    begin, earlier = time.perf_counter(), training.elapsed
    if first and every and state.step == 0 and not folder.rows():
        folder.log(evaluated(training))
    while state.step < configuration.steps:
        row = training.step()
        last = state.step == configuration.steps
        if first:
            folder.log(row)
            for line in due_tests(training, configuration):
                folder.log(line)
        training.elapsed = earlier + time.perf_counter() - begin
        if last or state.step % STEPS_BETWEEN_CHECKPOINTS == 0:
            training.save(folder.path)
