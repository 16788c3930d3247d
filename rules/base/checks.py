"""Refusals: each names the fault and the numbers in one line."""

from __future__ import annotations

import math
import reprlib
import sys
from typing import Any

import numpy as np

from kappaguard.rules.base.arrays import Array, is_exact, namespace
from kappaguard.rules.base.errors import InputError

MOST_VECTORS = 10_000
"""Of an input that is found or judged."""
LONGEST_BITS = 128
"""A longer integer is not written out in a message."""


def require_shape(x: Array) -> None:
    """x must be (..., n, d) with n, d >= 1."""
    if x.ndim < 2:
        raise InputError(f"x must have shape (..., n, d), got {tuple(x.shape)}")
    if x.shape[-2] < 1 or x.shape[-1] < 1:
        raise InputError(f"x must hold at least one vector of at least one coordinate, got shape {tuple(x.shape)}")


def shown(value: Any) -> str:
    """A value for a message: short, and without writing out numbers of thousands of digits, which Python refuses."""
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        return f"one of {value.bit_length()} bits"
    return reprlib.repr(value)


def require_count(value: int, least: int, what: str) -> None:
    """A parameter must be an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{what} must be an integer >= {least}, got {shown(value)}")


def require_positive(value: float, what: str) -> None:
    """A parameter must be a finite number above 0."""
    if not isinstance(value, int | float | np.floating) or not _is_finite_and_positive(value):
        raise InputError(f"{what} must be a finite number > 0, got {shown(value)}")


def require_seconds(value: float, what: str) -> None:
    """A length of time must be a finite number above 0."""
    if not isinstance(value, int | float) or not _is_finite_and_positive(value):
        raise InputError(f"{what} must be a positive number of seconds, got {shown(value)}")


def _is_finite_and_positive(value: float) -> bool:
    finite = value <= sys.float_info.max if isinstance(value, int) else math.isfinite(float(value))
    return not isinstance(value, bool) and value > 0 and finite


def require_minority(rule: str, n: int, f: int) -> None:
    """The rule needs f < n/2."""
    if 2 * f >= n:
        raise InputError(f"{rule} needs f < n/2, got n = {n} and f = {f}")


def require_few(n: int) -> None:
    """A witness can hold so many vectors and no more."""
    if n > MOST_VECTORS:
        raise InputError(f"n may be {MOST_VECTORS} at most, got {n}")


def require_setting(n: int, f: int, least_n: int = 1, least_f: int = 0) -> None:
    """n and f of a request: as many vectors as a witness can hold, and a minority of them Byzantine."""
    require_count(n, least_n, "n")
    require_count(f, least_f, "f")
    require_few(n)
    if 2 * f >= n:
        raise InputError(f"no rule is robust unless f < n/2, got n = {n} and f = {f}")


def require_inexact(rule: str, x: Array) -> None:
    """The rule's output is irrational, so it cannot run on exact fractions."""
    if is_exact(x):
        raise InputError(f"{rule} has irrational output and does not run on exact fractions; pass floats")


def reject_nan(x: Array) -> None:
    """NaN is not a vector that anyone could have meant."""
    if is_exact(x):
        return
    xp = namespace(x)
    rows = xp.any(xp.isnan(x), axis=-1)
    if bool(xp.any(rows)):
        row = int(xp.argmax(xp.astype(xp.reshape(rows, (-1,)), xp.int64))) % x.shape[-2]
        raise InputError(f"x has NaN in {int(xp.sum(xp.astype(rows, xp.int64)))} of its vectors (first: number {row})")
