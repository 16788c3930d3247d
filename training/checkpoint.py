"""A run as a file, to be continued later: written beside the old one first, then put in its place."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.mimic import Memory
from kappaguard.training.algorithm import BestTested, Settings, State
from kappaguard.training.learning import Learning
from kappaguard.training.measure import Point
from kappaguard.training.problem import Problem

SCHEMA = "kappaguard-checkpoint/1"
DAMAGE = (
    *(OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError, EOFError),
    *(pickle.UnpicklingError, zipfile.BadZipFile),
)
"""What reading a file that is not a whole checkpoint may raise."""


class Carried(Protocol):
    """A run, or the share of a process in it."""

    problem: Problem
    settings: Settings
    state: State
    seconds: dict[str, float]
    elapsed: float


def save(training: Carried, path: Path) -> None:
    """Everything that the next step, and its line in the log, depend on; the file is there as a whole or not at all."""
    import torch

    spent = {"elapsed": training.elapsed, "phases": dict(training.seconds)}
    about = {"schema": SCHEMA, "mark": training.settings.mark}
    content = {**about, **_packed(training.state, training.problem), **spent}
    beside = path.with_name(f".{path.name}.new")
    try:
        torch.save(content, beside)
        beside.replace(path)
    except (OSError, RuntimeError) as error:
        reason = str(error).splitlines()[0][:120]
        raise InputError(f"cannot write the checkpoint {path}, is the disk full? ({reason})") from None


def restore(training: Carried, path: Path) -> None:
    """Put a run that has just been built where the stored one was."""
    import torch

    state, mark = training.state, training.settings.mark
    try:
        _require_whole(path)
        content = torch.load(path, map_location=state.theta.device, weights_only=True)
        if content["schema"] != SCHEMA or content["messages"].shape != state.messages.shape:
            raise InputError(f"{path} is a checkpoint of another run")
        if content.get("mark", mark) != mark:
            raise InputError(f"{path} is a checkpoint of other settings: configuration.json was changed")
        _unpack(content, state, training.problem)
        training.elapsed = float(content.get("elapsed", 0.0))
        training.seconds.update(content.get("phases", {}))
    except InputError:
        raise
    except DAMAGE as error:
        raise InputError(f"{path} is damaged, the run cannot go on from it ({type(error).__name__})") from None


def _require_whole(path: Path) -> None:
    """Compare the check sums of all parts of the file, which torch does not."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(damaged)


def _packed(state: State, problem: Problem) -> dict[str, Any]:
    """What a file holds of a run."""
    measured, candidate = state.measured, state.candidate
    return {
        "step": state.step,
        "theta": state.theta,
        "messages": state.messages,
        "memory": asdict(state.memory) if isinstance(state.memory, Memory) else None,
        "output": state.output,
        "output_step": state.output_step,
        "least": state.least,
        "measured": None if measured is None else (measured.theta, measured.gradient, measured.longest),
        "candidate": None if candidate is None else (candidate.theta, candidate.step, candidate.accuracy),
        "statistics": problem.statistics if isinstance(problem, Learning) else [],
    }


def _unpack(content: dict[str, Any], state: State, problem: Problem) -> None:
    """Put it back; a file of an earlier version holds no measured point."""
    state.theta.copy_(content["theta"])
    state.messages.copy_(content["messages"])
    state.memory = None if content["memory"] is None else Memory(**content["memory"])
    state.step, state.least = int(content["step"]), float(content["least"])
    if content["output"] is not None and content["output"].shape != state.theta.shape:
        raise ValueError("output")
    state.output, state.output_step = content["output"], content["output_step"]
    measured = content.get("measured")
    state.measured = None if measured is None else Point(*measured)
    candidate = content.get("candidate")
    state.candidate = None if candidate is None else BestTested(*candidate)
    if isinstance(problem, Learning):
        problem.statistics[:] = content["statistics"]
