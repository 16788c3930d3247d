"""Formulas in plain characters, set with the signs that readers know."""

from __future__ import annotations

SIGNS = (
    ("==", "="),
    ("<=", "≤"),
    (">=", "≥"),
    ("||", "‖"),
    ("^2", "²"),
    ("^3", "³"),
    (" -> ", " → "),
    (" - ", " \N{MINUS SIGN} "),
)


def typeset(text: object) -> str:
    """The text with ``<=`` as one sign, and so on; a difference gets a minus sign, a name with a hyphen keeps it."""
    shown = str(text)
    for plain, sign in SIGNS:
        shown = shown.replace(plain, sign)
    return shown
