"""A whole run: all steps, with evaluations, log and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from kappaguard.training.algorithm import Diverged, Training
from kappaguard.training.checkpoint import restore, save
from kappaguard.training.configuration import Configuration
from kappaguard.training.folder import Folder
from kappaguard.training.problem import Known

SECONDS_BETWEEN_CHECKPOINTS = 30.0

Report = Callable[[int, int], None]


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
    largest_kappa_hat: float | None = None
    smoothness: float | None = None
    """L and a lower bound on the infimum of L_H, if they are known and everything was measured."""
    infimum: float | None = None
    seconds: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return asdict(self)


def run(
    training: Training,
    configuration: Configuration,
    folder: Folder | None = None,
    report: Report = lambda done, total: None,
    keep: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Result:
    """Carry on to the last step; with a folder, from its checkpoint if it has one. ``keep`` is told of every row."""
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    if folder is not None and folder.checkpoint.exists():
        restore(training, folder.checkpoint)
        folder.forget_after(training.state.step)
        rows = folder.rows()
    state, status = training.state, "finished"

    def tell(row: dict[str, Any]) -> None:
        rows.append(row)
        keep(row)
        if folder is not None:
            folder.log(row)

    if state.step == 0 and configuration.evaluate_every:
        tell(_evaluated(training))
    saved = time.perf_counter()
    try:
        while state.step < configuration.steps:
            tell(training.step())
            every = configuration.evaluate_every
            if every and (state.step % every == 0 or state.step == configuration.steps):
                tell(_evaluated(training))
            if folder is not None and time.perf_counter() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                save(training, folder.checkpoint)
                saved = time.perf_counter()
            report(state.step, configuration.steps)
    except Diverged:
        status = "diverged"
    except KeyboardInterrupt:
        if folder is not None:
            save(training, folder.checkpoint)
            folder.close()
        raise
    result = _result(training, rows, status, time.perf_counter() - begin)
    if folder is not None:
        save(training, folder.checkpoint)
        folder.finish(result.to_json())
    return result


def _evaluated(training: Training) -> dict[str, Any]:
    found = training.problem.evaluate(training.state.theta)
    return {"step": training.state.step, "test_loss": found.loss, "accuracy": found.accuracy}


def _result(training: Training, rows: list[dict[str, Any]], status: str, seconds: float) -> Result:
    tested = [row for row in rows if "test_loss" in row]
    accuracies = [row["accuracy"] for row in tested if row["accuracy"] is not None]
    ratios = [row["kappa_hat"] for row in rows if "kappa_hat" in row]
    state = training.state
    known = training.problem.known() if training.settings.measure == "full" else Known()
    output = None if state.output is None or status == "diverged" else training.problem.evaluate(state.output)
    return Result(
        status,
        state.step,
        max(accuracies, default=None),
        accuracies[-1] if accuracies else None,
        tested[-1]["test_loss"] if tested else None,
        state.output_step,
        output.accuracy if output else None,
        output.loss if output else None,
        max(ratios, default=None),
        known.smoothness,
        known.infimum,
        seconds,
        dict(training.seconds),
    )
