"""What cannot be traced, and where in the user's code."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import NoReturn

from kappaguard.rules.base.errors import InputError

TRACED_FILES: set[str] = set()
"""The files of the rule that is being traced."""
MOST_CHARACTERS = 80


class Untraceable(InputError):
    """Code that does not become a recipe: ``why``, and a ``hint`` at what would help. ``place`` is file and line."""

    def __init__(self, why: str, hint: str = "", place: str = "", line: str = "") -> None:
        self.why, self.hint, self.place, self.line = why, hint, place, line
        where = f"{place}: " if place else ""
        shown = f"`{line}`: " if line else ""
        super().__init__(f"{where}{shown}{why}" + (f"; {hint}" if hint else ""))


REFUSALS: list[Untraceable] = []
"""Those of the run that is going on."""


def refuse(why: str, hint: str = "") -> NoReturn:
    """Raise ``Untraceable`` with the line of the user's code that is being run."""
    place, line = place_in_code()
    found = Untraceable(why, hint, place, line)
    # code may catch it and go on: it stays refused
    REFUSALS.append(found)
    raise found


def place_of(error: BaseException) -> tuple[str, str]:
    """File and line of the code that is being traced where an exception came by last."""
    place = "", ""
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename in TRACED_FILES:
            place = _written(step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return place


def _written(file: str, number: int) -> tuple[str, str]:
    return f"{Path(file).name}:{number}", linecache.getline(file, number).strip()[:MOST_CHARACTERS]


def place_in_code() -> tuple[str, str]:
    """File and line of the innermost frame in the code that is being traced; nothing if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in TRACED_FILES:
            return _written(file, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "", ""
