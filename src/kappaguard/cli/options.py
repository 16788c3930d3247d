"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


def relative_error(tolerance: float | None) -> Fraction | None:
    """``--tolerance`` as a fraction; InputError unless it is at least 0 and less than 1."""
    from fractions import Fraction

    from kappaguard.rules.base.errors import InputError

    if tolerance is None:
        return None
    if not 0 <= tolerance < 1:
        raise InputError(f"--tolerance must be at least 0 and less than 1, got {tolerance:g}")
    return Fraction(tolerance)


def whole_numbers(text: str, option: str) -> list[int]:
    """Whole numbers with commas between them."""
    from kappaguard.rules.base.errors import InputError

    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} are whole numbers with commas between them, not {text[:100]!r}") from None
