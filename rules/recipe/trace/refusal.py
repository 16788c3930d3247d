"""What cannot be traced, and where in the user's code."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import NoReturn

from kappaguard.rules.errors import InputError

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


def place_in_code() -> tuple[str, str]:
    """File and line of the innermost frame in the code that is being traced; nothing if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in TRACED_FILES:
            text = linecache.getline(file, frame.f_lineno).strip()
            return f"{Path(file).name}:{frame.f_lineno}", text[:MOST_CHARACTERS]
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "", ""
