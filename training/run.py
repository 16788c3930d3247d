"""A whole run: all steps, with evaluations, log and checkpoints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

import numpy as np

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.training.algorithm import Settings, State, Training
from kappaguard.training.checkpoint import restore, save
from kappaguard.training.configuration import Configuration
from kappaguard.training.finite_json import finite, largest
from kappaguard.training.folder import Folder
from kappaguard.training.interrupts import interrupts_between_steps
from kappaguard.training.learning import Learning
from kappaguard.training.messages import Diverged
from kappaguard.training.problem import Known, Problem
from kappaguard.training.sources.folder import keep_messages
from kappaguard.training.testing import due_tests, evaluated
from kappaguard.training.version import code_hash

SECONDS_BETWEEN_CHECKPOINTS = 30.0

Report = Callable[[int, int], None]


class Participant(Protocol):
    """A run, or the share of a process in it."""

    problem: Problem
    settings: Settings
    state: State
    seconds: dict[str, float]


@dataclass
class Result:
    """What came out: ``status`` is ``finished`` or ``diverged``."""

    status: str
    steps: int
    best_accuracy: float | None = None
    accuracy: float | None = None
    loss: float | None = None
    output_step: int | None = None
    output_accuracy: float | None = None
    output_loss: float | None = None
    largest_ratio: float | None = None
    largest_slope: float | None = None
    """Of the gradient of L_H between measured steps, if everything was measured: at most L."""
    smoothness: float | None = None
    """L and a lower bound on the infimum of L_H, if they are known and everything was measured."""
    infimum: float | None = None
    images: int | None = None
    """How many different training samples the honest workers have, if they have any."""
    code: str = ""
    """A hash of the sources that made it, see ``kappaguard.training.version``."""
    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Everything, as strict JSON can hold it."""
        values: dict[str, Any] = finite(asdict(self))
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Result:
        """What an earlier run wrote down; of an earlier version too, which knew less."""
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})


def run(
    training: Training,
    configuration: Configuration,
    folder: Folder | None = None,
    report: Report = lambda done, total: None,
    keep: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Result:
    """Carry on to the last step; with a folder, from its checkpoint if it has one. ``keep`` is told of every row."""
    begin = time.perf_counter()
    rows = [] if folder is None else _begin(training, folder)
    state, status, earlier = training.state, "finished", training.elapsed

    def store() -> None:
        training.elapsed = earlier + time.perf_counter() - begin
        if folder is not None:
            save(training, folder.checkpoint)

    def tell(row: dict[str, Any]) -> None:
        rows.append(row)
        keep(row)
        if folder is not None:
            folder.log(row)

    whole = True
    saved = time.perf_counter()
    try:
        if state.step == 0 and configuration.evaluate_every and not rows:
            tell(evaluated(training))
        with interrupts_between_steps() as raise_if_asked:
            while state.step < configuration.steps:
                whole = False
                tell(training.step())
                if folder is not None and configuration.keep_messages and state.step % configuration.keep_messages == 0:
                    keep_messages(folder.path, state.step, state.messages, configuration.honest)
                for row in due_tests(training, configuration):
                    tell(row)
                whole = True
                if time.perf_counter() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                    store()
                    saved = time.perf_counter()
                report(state.step, configuration.steps)
                raise_if_asked()
    except Diverged:
        status = "diverged"
    except RuleFault as fault:
        raise InputError(f"the rule failed in step {state.step}: {fault}") from fault
    except KeyboardInterrupt:
        if whole:
            store()
        if folder is not None:
            folder.close()
            folder.draw()
        raise
    finally:
        if folder is not None:
            folder.close()
    if whole:
        store()
    result = result_of(training, rows, status, earlier + time.perf_counter() - begin)
    if folder is not None:
        folder.finish(result.to_json())
    return result


def _begin(training: Training, folder: Folder) -> list[dict[str, Any]]:
    """Go to the checkpoint, or make the one of step 0; the log so far, without what will be done again.

    There is always a checkpoint, and always of whole steps: one that was interrupted, or diverged, is done again.
    """
    folder.require_processes(1)
    if folder.checkpoint.exists():
        restore(training, folder.checkpoint)
        folder.forget_after(training.state.step)
    else:
        folder.forget_after(-1)
        save(training, folder.checkpoint)
    return folder.rows()


def result_of(training: Participant, rows: list[dict[str, Any]], status: str, seconds: float) -> Result:
    """What came out, from the log and the last state."""
    tested = [row for row in rows if "test_loss" in row]
    accuracies = [row["accuracy"] for row in tested if row["accuracy"] is not None]
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    state = training.state
    known = training.problem.known() if training.settings.measure == "full" else Known()
    output = None if state.output is None or status == "diverged" else training.problem.evaluate(state.output)
    losses = [*(row["test_loss"] for row in tested), *([] if output is None else [output.loss])]
    if not all(loss is not None and math.isfinite(loss) for loss in losses):
        status, output = "diverged", None
    return Result(
        status,
        state.step,
        max(accuracies, default=None),
        accuracies[-1] if accuracies else None,
        tested[-1]["test_loss"] if tested else None,
        state.output_step,
        output.accuracy if output else None,
        output.loss if output else None,
        largest(ratios),
        max((row["slope"] for row in rows if "slope" in row), default=None),
        known.smoothness,
        known.infimum,
        images_of(training.problem),
        code_hash(),
        seconds,
        dict(training.seconds),
    )


def images_of(problem: Problem) -> int | None:
    """How many different samples the honest workers learn from."""
    return len(np.unique(np.concatenate(problem.shards))) if isinstance(problem, Learning) else None
