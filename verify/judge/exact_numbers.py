"""Rational arithmetic for judges: enclosures of roots, and positive semidefiniteness, in plain Python fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Vector = Sequence[Fraction]
Matrix = list[list[Fraction]]

BITS = 160


def root_below(value: Fraction, bits: int = BITS) -> Fraction:
    """The largest number with that many binary digits whose square is at most the value."""
    return _root(value, bits)[0]


def root_above(value: Fraction, bits: int = BITS) -> Fraction:
    """The smallest number with about that many binary digits whose square is at least the value."""
    return _root(value, bits)[1]


def _root(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    if value < 0:
        raise ValueError("the root of a negative number")
    if value == 0:
        return Fraction(0), Fraction(0)
    # so that the root of value * 4**shift has the given number of bits
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    scaled = value * Fraction(4) ** shift
    floor = math.isqrt(scaled.numerator // scaled.denominator)
    unit = Fraction(1, 2) ** shift
    return floor * unit, (floor if floor * floor == scaled else floor + 1) * unit


def round_down(value: Fraction, bits: int = 64) -> Fraction:
    """A number of that many binary digits, at most the (positive) value and near it."""
    shift = bits - (value.numerator.bit_length() - value.denominator.bit_length())
    scale = Fraction(2) ** shift
    return Fraction(math.floor(value * scale)) / scale


def inner(a: Vector, b: Vector) -> Fraction:
    """The inner product."""
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def minus(a: Vector, b: Vector) -> list[Fraction]:
    """a - b."""
    return [p - q for p, q in zip(a, b, strict=True)]


def mean(rows: Sequence[Vector]) -> list[Fraction]:
    """The mean of vectors."""
    return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]


def is_semidefinite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix of fractions is positive semidefinite, by elimination without fractions.

    The matrix is scaled to whole numbers. After step k of Bareiss's elimination the rest is the Schur complement times
    the determinant of the first k rows, which is positive; so signs are those of the pivots of L D L^T, and divisions
    by the last pivot leave no remainder. A row whose pivot is zero has to vanish, and is left out.
    """
    unit = math.lcm(*(value.denominator for row in matrix for value in row))
    rows = [[value.numerator * (unit // value.denominator) for value in row] for row in matrix]
    before = 1
    while rows:
        pivot, first = rows[0][0], rows[0][1:]
        if pivot < 0 or (pivot == 0 and any(first)):
            return False
        rest = [row[1:] for row in rows[1:]]
        if pivot:
            for share, row in zip(first, rest, strict=True):
                for place, value in enumerate(first):
                    row[place] = (pivot * row[place] - share * value) // before
            before = pivot
        rows = rest
    return True
