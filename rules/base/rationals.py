"""From floats to small rationals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError

SMALL_DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32, 48, 64, 100, 128, 256, 512, 1000, 1024)
MOST_BITS = 40


def grids(most_bits: int = MOST_BITS) -> Iterator[int]:
    """Denominators to try, the smallest first; from some size on only powers of two, which floats represent."""
    yield from SMALL_DENOMINATORS
    yield from (1 << bits for bits in range(11, most_bits + 1))


def on_grid(x: NDArray[Any], denominator: int) -> NDArray[Any]:
    """x rounded to multiples of 1/denominator, as an array of fractions."""
    return _each(x, lambda value: Fraction(round(value * denominator), denominator))


def simplest_of_float(value: float) -> Fraction:
    """The fraction of smallest denominator among those that round to a finite float.

    Any fraction whose denominator is below 2^26 or so is the simplest one that rounds to its float.
    """
    exact = Fraction(value)
    if exact.denominator == 1:
        return exact
    above, below = math.nextafter(value, math.inf), math.nextafter(value, -math.inf)
    # half a unit in the last place to either side, where every fraction rounds to the value; of the two ends, which
    # may not, neither is chosen: their denominators are larger than the value's own
    return simplest_between((exact + Fraction(below)) / 2, (exact + Fraction(above)) / 2)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator (then of smallest size) in [low, high]: a walk down the Stern-Brocot tree.

    Written with continued fractions: if no integer lies in the interval, take off the common integer part and
    go on with the reciprocals.
    """
    if low > high:
        raise InputError(f"there is nothing between {low} and {high}")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    part = math.floor(low)
    return part + 1 / simplest_between(1 / (high - part), 1 / (low - part))


def whole(x: NDArray[Any]) -> NDArray[Any]:
    """x times the smallest positive number that makes all entries integers without a common divisor."""
    values = [Fraction(value) for value in x.ravel()]
    multiple = math.lcm(*(value.denominator for value in values))
    divisor = math.gcd(*(int(value * multiple) for value in values)) or 1
    return _each(x, lambda value: value * multiple / divisor)


def _each(x: NDArray[Any], change: Any) -> NDArray[Any]:
    try:
        values = [change(Fraction(value)) for value in x.ravel().tolist()]
    except (OverflowError, ValueError):
        raise InputError("x must hold finite numbers") from None
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result.reshape(x.shape)
