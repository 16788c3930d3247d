"""Files from anywhere: bounded before anything is computed, and whatever is wrong is an ``InputError`` of one line."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from kappaguard.rules.base.errors import InputError

MOST_BYTES = 8 << 20
MOST_DIGITS = 400
_FRACTION = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?", re.ASCII)


def read(path: Path | str, what: str, most: int = MOST_BYTES) -> str:
    """The text of a file that should hold a ``what``, of so many bytes at most."""
    where = Path(path)
    try:
        if where.exists() and not where.is_file():
            raise InputError(f"{where} is not a file")
        with where.open("rb") as stream:
            content = stream.read(most + 1)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {where}: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > most:
        raise InputError(f"{where} is larger than the {most} bytes that a {what} may have")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where} is not a {what}: it is not text in UTF-8") from None


def parse(text: str) -> dict[str, Any]:
    """A JSON object without floats, long integers and repeated keys."""
    try:
        data = json.loads(
            text,
            parse_int=_small_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError:
        raise InputError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg} in line {error.lineno}") from None
    if not isinstance(data, dict):
        raise InputError("the JSON is not an object")
    return data


def fraction(text: object, name: str, most: int = MOST_DIGITS) -> Fraction:
    """A fraction from its text."""
    match = _FRACTION.fullmatch(text) if isinstance(text, str) and len(text) <= 2 * most + 2 else None
    if match is None:
        raise InputError(f'{name!r} must hold fractions as texts, such as "1/3", got {short(text)}')
    top, bottom = match.group(1), match.group(2) or "1"
    if max(len(top.lstrip("-")), len(bottom)) > most:
        raise InputError(f"a fraction in {name!r} has more than {most} digits")
    if int(bottom) == 0:
        raise InputError(f"a fraction in {name!r} has the denominator 0")
    return Fraction(int(top), int(bottom))


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _small_integer(digits: str) -> int:
    if len(digits) > 20:
        raise InputError(f"an integer of {len(digits)} digits")
    return int(digits)


def _no_float(text: str) -> NoReturn:
    raise InputError(f'the number {short(text)[1:-1]}: fractions are written as texts, such as "1/3"')


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InputError("a key is given twice")
    return result
