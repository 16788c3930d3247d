"""What cannot be traced, and where in the user's code."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import NoReturn

from kappaguard.rules.errors import ROOMS, InputError

OUTSIDE = (*ROOMS, "<frozen", "<string")
LIBRARIES = (f"{Path('site-packages')}", f"{Path('dist-packages')}", f"lib{Path('/')}python")
MOST_CHARACTERS = 80


class Untraceable(InputError):
    """Code that does not become a recipe: ``why``, and a ``hint`` at what would help. ``place`` is file and line."""

    def __init__(self, why: str, hint: str = "", place: str = "", line: str = "") -> None:
        self.why, self.hint, self.place, self.line = why, hint, place, line
        where = f"{place}: " if place else ""
        shown = f"`{line}`: " if line else ""
        super().__init__(f"{where}{shown}{why}" + (f"; {hint}" if hint else ""))


def refuse(why: str, hint: str = "") -> NoReturn:
    """Raise ``Untraceable`` with the line of the user's code that is being run."""
    place, line = _place()
    raise Untraceable(why, hint, place, line)


def _place() -> tuple[str, str]:
    """File and line of the innermost frame that is neither ours nor, if there is another, a library's."""
    frame = sys._getframe(2)
    found: tuple[str, int] | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(OUTSIDE):
            if not any(part in file for part in LIBRARIES):
                found = (file, frame.f_lineno)
                break
            found = found or (file, frame.f_lineno)
        if frame.f_back is None:
            break
        frame = frame.f_back
    if found is None:
        return "", ""
    text = linecache.getline(*found).strip()
    return f"{Path(found[0]).name}:{found[1]}", text[:MOST_CHARACTERS]
