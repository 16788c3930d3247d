"""Strict JSON has no infinity: what is not a finite number is written as null."""

from __future__ import annotations

import json
import math
from typing import Any


def finite(value: Any) -> Any:
    """The value with None in place of every number, however deep, that is infinite or NaN."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def dumps(value: Any, indent: int | None = None) -> str:
    """The value as strict JSON."""
    return json.dumps(finite(value), indent=indent, allow_nan=False)


def largest(values: list[float | None]) -> float | None:
    """The largest number, infinite if one of them was written as null; None if there are none."""
    return max((math.inf if value is None else value for value in values), default=None)
