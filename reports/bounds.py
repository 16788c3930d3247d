"""Bounds with few digits, rounded outward: what is printed is still a bound."""

from __future__ import annotations

import decimal

DIGITS = 5


def lower_shown(value: object, digits: int = DIGITS) -> str:
    """A lower bound, rounded down."""
    return _shown(value, digits, decimal.ROUND_FLOOR)


def upper_shown(value: object, digits: int = DIGITS) -> str:
    """An upper bound, rounded up."""
    return _shown(value, digits, decimal.ROUND_CEILING)


def _shown(value: object, digits: int, rounding: str) -> str:
    """A float stands for the shortest decimal that rounds to it, so that 1.6 stays 1.6."""
    if value is None:
        return ""
    if not isinstance(value, int | float):
        return "infinite" if value == "inf" else str(value)
    rounded = decimal.Context(prec=digits, rounding=rounding).create_decimal(repr(value))
    return f"{float(rounded):.{digits}g}"
