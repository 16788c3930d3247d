"""Where in the user's project a verdict belongs: the file of the rule if it has one, else the configuration."""

from __future__ import annotations

import ast
from pathlib import Path, PurePosixPath

from kappaguard.rules.grammar import PATTERN, split_pipeline

CONFIGURATION = "pyproject.toml"
MOST_BYTES = 4 << 20


def place(rule: str) -> str:
    """A path relative to the project, with forward slashes."""
    for stage in reversed(split_pipeline(rule)):
        match = PATTERN.fullmatch(stage)
        if match is not None and match["where"].endswith(".py"):
            path = PurePosixPath(match["where"].replace("\\", "/"))
            return str(path) if not path.is_absolute() else path.name
    return CONFIGURATION


def line(rule: str) -> int:
    """The line on which the file of a rule defines it; 1 if that cannot be seen. The file is read and not run."""
    for stage in reversed(split_pipeline(rule)):
        match = PATTERN.fullmatch(stage)
        if match is not None and match["where"].endswith(".py"):
            return _definition(Path(match["where"]), match["attribute"].split(".")[0])
    return 1


def _definition(path: Path, name: str) -> int:
    try:
        if path.stat().st_size > MOST_BYTES:
            return 1
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return 1
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            return node.lineno
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            return node.lineno
    return 1
