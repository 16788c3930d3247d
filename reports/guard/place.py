"""Where in the user's project a verdict belongs: the file of the rule if it has one, else the configuration."""

from __future__ import annotations

from pathlib import PurePosixPath

from kappaguard.rules.adapters.spec import PATTERN, split_pipeline

CONFIGURATION = "pyproject.toml"


def place(rule: str) -> str:
    """A path relative to the project, with forward slashes."""
    for stage in reversed(split_pipeline(rule)):
        match = PATTERN.fullmatch(stage)
        if match is not None and match["where"].endswith(".py"):
            path = PurePosixPath(match["where"].replace("\\", "/"))
            return str(path) if not path.is_absolute() else path.name
    return CONFIGURATION
