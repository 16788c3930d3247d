"""When a model is tested, and on how many of the test samples.

The largest accuracy of a run is a maximum over many tests, and a test on all samples may cost as much as ten steps.
With ``screen`` the tests look at that many samples, evenly spread, and only the best model of every TESTS of them is
then tested on all. So every accuracy is one on all test samples, and the largest is at most that of testing everything:
it may miss the best model by what the fewer samples confuse.
"""

from __future__ import annotations

from typing import Any, Protocol

from kappaguard.rules.base.errors import InputError
from kappaguard.training.algorithm import BestTested, Settings, State
from kappaguard.training.configuration import Configuration
from kappaguard.training.learning import Learning
from kappaguard.training.problem import Problem

TESTS = 10
"""So many tests on a few samples are followed by one on all."""

MODEL_STEP = "model_step"
"""In a line of the log: the step after which the model was what has now been tested, if that is an earlier one."""


def model_step(row: dict[str, Any]) -> int:
    """The step after which the model was what a line of the log is about."""
    return int(row[MODEL_STEP] if MODEL_STEP in row else row["step"])


class Tested(Protocol):
    """A run, or the share of a process in it."""

    problem: Problem
    settings: Settings
    state: State


def due_tests(training: Tested, given: Configuration) -> list[dict[str, Any]]:
    """The lines of the log for the tests that are due now."""
    every, step = given.evaluate_every, training.state.step
    last = step == given.steps
    if not every or (step % every and not last):
        return []
    if not given.screen or step == 0:
        return [evaluated(training)]
    state, problem = training.state, training.problem
    if isinstance(problem, Learning) and problem.statistics:
        raise InputError("screen tests earlier models later: that needs a network without batch normalisation")
    accuracy = problem.evaluate(state.theta, given.screen).accuracy
    if accuracy is None:
        return [evaluated(training)]
    rows: list[dict[str, Any]] = [{"step": step, "screened": accuracy}]
    if state.candidate is None or accuracy >= state.candidate.accuracy:
        state.candidate = BestTested(state.theta.clone(), step, accuracy)
    if last or step % (every * TESTS) == 0:
        best, state.candidate = state.candidate, None
        found = problem.evaluate(best.theta)
        model = {} if best.step == step else {MODEL_STEP: best.step}
        rows.append({"step": step, **model, "test_loss": found.loss, "accuracy": found.accuracy})
        if last and best.step != step:
            rows.append(evaluated(training))
    return rows


def evaluated(training: Tested) -> dict[str, Any]:
    """A line of the log: how good the model is."""
    found = training.problem.evaluate(training.state.theta)
    return {"step": training.state.step, "test_loss": found.loss, "accuracy": found.accuracy}
