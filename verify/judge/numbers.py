"""Numbers of certificates: fractions as texts."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from kappaguard.verify.judge.rejected import demand

_NUMBER = re.compile(r"-?\d{1,2000}(/\d{1,2000})?", re.ASCII)


def number(text: Any) -> Fraction:
    """A fraction from its text."""
    demand(isinstance(text, str) and _NUMBER.fullmatch(text) is not None, f"not a fraction: {str(text)[:40]!r}")
    top, _, bottom = text.partition("/")
    demand(not bottom or int(bottom) != 0, "a fraction divides by zero")
    return Fraction(int(top), int(bottom or 1))
