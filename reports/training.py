"""What a report shows of training: stored runs with the ratio of their steps, and stored rates."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kappaguard.reports.estimate import read_estimate
from kappaguard.reports.rates import read
from kappaguard.reports.trained import read_trained
from kappaguard.rules.base.errors import InputError
from kappaguard.training.configuration import Configuration, preset, presets
from kappaguard.training.folder import Folder
from kappaguard.training.unused_settings import why_unused


def with_training(
    results: Mapping[str, Any],
    runs: Sequence[Path],
    rates: Path | None,
    estimates: Sequence[Path] = (),
    trained: Path | None = None,
) -> dict[str, Any]:
    """The results with these runs, rates, estimates and runs on worst inputs; what they had stays if none is named."""
    shown = {"estimates": [read_estimate(path) for path in estimates]} if estimates else {}
    return {
        **results,
        **shown,
        "runs": [stored_run(path) for path in runs] if runs else results.get("runs", []),
        "rates": results.get("rates") if rates is None else read(rates),
        "trained": results.get("trained") if trained is None else read_trained(trained),
    }


def stored_run(path: Path) -> dict[str, Any]:
    """The ratio of every measured step of a stored training run, and the command that repeats the run."""
    log = path / "log.jsonl"
    try:
        rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        pairs = [(float(row["step"]), float(row["ratio"])) for row in rows if row.get("ratio") is not None]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is not the folder of a training run: no log.jsonl with steps in it") from None
    pairs = [pair for pair in pairs if math.isfinite(pair[1])]
    if not pairs:
        raise InputError(f"{path} has no step with a finite ratio to show: train with --measure-every 1")
    return {
        "name": path.name,
        "steps": [step for step, _ in pairs],
        "ratio": [value for _, value in pairs],
        "command": train_command(Folder.existing(path)[1]),
    }


def train_command(configuration: Configuration) -> str:
    """The shortest command with these settings: a preset, and what differs from it. Where it ran does not matter."""
    given = {
        key: value
        for key, value in configuration.to_json().items()
        if key not in ("device", "data_dir", "keep_messages")
    }
    commands = []
    for name in presets():
        usual = preset(name).to_json()
        differs = {
            key: value for key, value in given.items() if value != usual[key] and why_unused(key, configuration) is None
        }
        if all(value is not None or key == "clip" for key, value in differs.items()):
            options = [
                word
                for key, value in differs.items()
                for word in (_option(key), "none" if value is None else str(value))
            ]
            commands.append(["kappaguard", "train", "--preset", name, *options])
    shortest = min(commands, key=len)
    return shlex.join(shortest)


def _option(setting: str) -> str:
    return f"-{setting}" if len(setting) == 1 else f"--{setting.replace('_', '-')}"
