"""Parameters of rules that may be written as arithmetic in n and f."""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate as value_of


def counted(value: int | str | None, default: int, n: int, f: int, name: str) -> int:
    """A number that is given as such, as arithmetic in n and f, or not at all."""
    if value is None:
        return default
    if isinstance(value, str):
        result = value_of(value, n, f)
        if not isinstance(result, Fraction) or result.denominator != 1:
            raise InputError(f"{name} must be a whole number, and {value} is {result} at n = {n}, f = {f}")
        return int(result)
    return value


def require_number(value: int | str | None, least: int, name: str) -> None:
    """InputError unless the value is None, an expression in n and f, or a count."""
    if value is not None and not isinstance(value, str):
        require_count(value, least, name)
