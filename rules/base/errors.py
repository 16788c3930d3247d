"""The ways in which an evaluation can end without a result."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Literal

FaultKind = Literal["none", "nan", "infinite", "exception", "shape", "type"]


class InputError(ValueError):
    """The request itself is wrong: one line that names the fault and the numbers (exit code 2).

    ``trace`` is the traceback of the user's own code, if that raised.
    """

    trace: str = ""


def trace_of(error: BaseException) -> str:
    """The traceback of the error that is behind an error, as far as it is in code that is not ours; else nothing."""
    if isinstance(error, InputError) and error.trace:
        return error.trace
    behind = error
    while behind.__cause__ is not None:
        behind = behind.__cause__
    frames = [frame for frame in traceback.extract_tb(behind.__traceback__) if not _ours(frame.filename)]
    if behind is error or not frames:
        return ""
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames[-MOST_FRAMES:])]
    return "".join([*lines, *traceback.format_exception_only(behind)])


def _ours(file: str) -> bool:
    return file.startswith(("<frozen", *ROOMS))


MOST_FRAMES = 20
HOMES = {Path(__file__).parents[2], Path(__file__).resolve().parents[2]}
FOLDERS = ("rules", "search", "training", "verify", "reports", "src", "cli")
ROOMS = tuple(f"{home / folder}{os.sep}" for home in HOMES for folder in FOLDERS)


class OutOfTime(KeyboardInterrupt):
    """The time is over: like Ctrl-C, it passes through whatever catches ordinary errors."""


class RuleFault(Exception):
    """A rule under test did not return a usable vector: a finding about the rule, not a crash of ours.

    ``kind`` is what was seen: it returned ``none``, ``nan``, an ``infinite`` entry, a wrong ``shape`` or
    ``type``, or raised an ``exception``.
    """

    def __init__(self, rule: str, kind: FaultKind, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule = rule
        self.kind: FaultKind = kind
        self.detail = detail
