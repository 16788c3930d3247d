"""A run as a file, to be continued later: written beside the old one first, then put in its place."""

from __future__ import annotations

import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kappaguard.rules.errors import InputError
from kappaguard.search.attacks.mimic import Memory
from kappaguard.training.algorithm import Training
from kappaguard.training.learning import Learning

SCHEMA = "kappaguard-checkpoint/1"


def save(training: Training, path: Path) -> None:
    """Everything that the next step depends on."""
    import torch

    state = training.state
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "step": state.step,
        "theta": state.theta,
        "messages": state.messages,
        "memory": asdict(state.memory) if isinstance(state.memory, Memory) else None,
        "output": state.output,
        "output_step": state.output_step,
        "least": state.least,
        "statistics": training.problem.statistics if isinstance(training.problem, Learning) else [],
    }
    beside = path.with_name(f".{path.name}.new")
    torch.save(content, beside)
    beside.replace(path)


def restore(training: Training, path: Path) -> None:
    """Put a run that has just been built where the stored one was."""
    import torch

    state = training.state
    try:
        content = torch.load(path, map_location=state.theta.device, weights_only=True)
        if content["schema"] != SCHEMA or content["messages"].shape != state.messages.shape:
            raise InputError(f"{path} is a checkpoint of another run")
        state.theta.copy_(content["theta"])
        state.messages.copy_(content["messages"])
        state.memory = None if content["memory"] is None else Memory(**content["memory"])
        state.step, state.least = content["step"], content["least"]
        state.output, state.output_step = content["output"], content["output_step"]
        if isinstance(training.problem, Learning):
            training.problem.statistics[:] = content["statistics"]
    except (OSError, RuntimeError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
        raise InputError(f"cannot continue from {path}: {type(error).__name__}") from None
