"""The grammar of names, ours (``name(option=value)``) and of code (``where:attribute(option=value)``), with ``+``
between stages.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.files import is_file
from kappaguard.rules.base.untrusted import short

PATTERN = re.compile(r"(?P<where>.+):(?P<attribute>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\s*(?P<options>\(.*\))?", re.DOTALL)


@dataclass(frozen=True)
class CodeName:
    """The name of somebody's code: where to look, for what, and the options in parentheses."""

    where: str
    attribute: str
    options: dict[str, Any] = field(default_factory=dict)


def parse(text: str) -> CodeName:
    """The text as the name of code, ``where:attribute(option=value)``."""
    match = PATTERN.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{text!r} is not the name of a rule: write package.module:attribute, path/to/file.py:attribute"
            " or a peer's such as byzfl:Krum"
        )
    return CodeName(match["where"], match["attribute"], options(match["options"], text))


def options(text: str | None, spec: str) -> dict[str, Any]:
    """``(name=value, ...)`` with plain values, as a dictionary."""
    complaint = f"{short(spec)} has options that are not of the form (name=value, ...)"
    return {} if text is None else keywords(text[1:-1], complaint)


def keywords(text: str, complaint: str) -> dict[str, Any]:
    """``s=2, seed=1`` as a dictionary of plain values; what is not of this form is refused with the complaint."""
    try:
        call = ast.parse(f"_({text})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError(text)
        given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        if None in given or len(given) < len(call.keywords):
            raise ValueError(text)
        return {str(name): value for name, value in given.items()}
    except (SyntaxError, ValueError, MemoryError, RecursionError, TypeError):
        raise InputError(complaint) from None


def split_pipeline(text: str) -> list[str]:
    """The stages of ``text``: split at each ``+`` that is neither in parentheses nor in the path of a file."""
    parts = [""]
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    stages: list[str] = []
    while parts:
        length = next((k for k in range(len(parts), 1, -1) if _names_file("+".join(parts[:k]))), 1)
        stages.append("+".join(parts[:length]).strip())
        parts = parts[length:]
    return stages


def _names_file(stage: str) -> bool:
    match = PATTERN.fullmatch(stage.strip())
    return match is not None and match["where"].endswith(".py") and is_file(Path(match["where"]))
