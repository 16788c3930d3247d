"""The command that the report prints for a stored run is one that ``train`` takes, and means the same run."""

from __future__ import annotations

import shlex

import pytest

from kappaguard.cli import main
from kappaguard.reports.training import train_command
from kappaguard.training.configuration import preset
from kappaguard.training.folder import Folder
from kappaguard.training.unused_settings import why_unused

RUNS = [
    ("digits", {}),
    ("digits", {"clip": 1.0}),
    ("digits", {"model": "quadratic", "l2": 0.5, "samples": 3}),
    ("digits", {"clip": None, "split": "iid", "alpha": 0.1, "algorithm": "gd"}),
    ("digits", {"clip": None, "schedule": "theorem", "momentum": 0.3, "measure": "full"}),
    ("theorem1", {"rule": "slack", "kappa": 1.0, "attack": "none"}),
    ("theorem2", {"dataset": "mnist", "batch": 3, "learning_rate": 0.1}),
]


@pytest.mark.parametrize(("name", "changes"), RUNS, ids=str)
def test_train_takes_it_and_means_the_same(name, changes, tmp_path):
    configuration = preset(name).with_values({**changes, "steps": 2, "evaluate_every": 0})
    program, command, *words = shlex.split(train_command(configuration))
    assert (program, command) == ("kappaguard", "train")
    assert main([command, *words, "--out", str(tmp_path)]) == 0
    stored = Folder.existing(next(tmp_path.iterdir()))[1].to_json()
    for key, value in configuration.to_json().items():
        assert stored[key] == value or why_unused(key, configuration) is not None, key
