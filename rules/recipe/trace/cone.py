"""Cones of sorted values: an inner point in fractions, or multipliers that prove that there is none.

A cone is {x: g.x >= 0 for the weak g, g.x > 0 for the strict ones}, every g of sum zero. Linear programs in floats find
both; fractions confirm them, so that a float never decides whether a cone is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Form = tuple[Fraction, ...]
SMALL = 1e-7
BOX = 1e4
DENOMINATORS = (1, 12, 720, 10**6)


@dataclass(frozen=True)
class Side:
    """One inequality: g.x > 0 if strict, else g.x >= 0."""

    form: Form
    strict: bool


class Unsettled(Exception):
    """Neither a point nor multipliers were confirmed."""


def gaps(n: int) -> list[Side]:
    """x_0 <= ... <= x_(n-1)."""
    return [Side(tuple(Fraction((k == i + 1) - (k == i)) for k in range(n)), False) for i in range(n - 1)]


def inner_point(sides: Sequence[Side], n: int) -> list[Fraction] | None:
    """A point of the cone, off as many of its faces as can be; None if multipliers prove that it is empty."""
    from scipy.optimize import linprog

    matrix = np.array([[float(value) for value in side.form] for side in sides])
    strict = np.array([side.strict for side in sides])
    count = len(sides)
    # strict sides: g.x >= 1; weak ones: g.x >= u with 0 <= u <= 1, as large as they can be
    above = np.hstack([-matrix, np.diag(np.where(strict, 0.0, 1.0))])
    found = linprog(
        np.concatenate([np.zeros(n), -np.ones(count)]),
        A_ub=above,
        b_ub=np.where(strict, -1.0, 0.0),
        bounds=[(0, 0)] + [(-BOX, BOX)] * (n - 1) + [(0, 1)] * count,
        method="highs",
    )
    if found.status != 0:
        if multipliers(sides, n) is None:
            raise Unsettled
        return None
    assert found.x is not None
    active = [side for side, value in zip(sides, matrix @ found.x[:n], strict=True) if abs(value) < SMALL]
    for denominator in DENOMINATORS:
        point = onto([side.form for side in active], [Fraction(v).limit_denominator(denominator) for v in found.x[:n]])
        if all(_inside(side, point) for side in sides):
            return point
    raise Unsettled


def _inside(side: Side, point: list[Fraction]) -> bool:
    value = sum((a * b for a, b in zip(side.form, point, strict=True)), Fraction(0))
    return value > 0 or (value == 0 and not side.strict)


def onto(forms: list[Form], point: list[Fraction]) -> list[Fraction]:
    """The point with some coordinates changed so that all forms vanish."""
    rows: list[tuple[int, list[Fraction]]] = []
    for form in forms:
        row = list(form)
        for pivot, earlier in rows:
            if row[pivot]:
                row = [a - row[pivot] * b for a, b in zip(row, earlier, strict=True)]
        lead = next((place for place in range(len(row) - 1, -1, -1) if row[place]), None)
        if lead is None:
            continue
        row = [value / row[lead] for value in row]
        rows = [(pivot, [a - earlier[lead] * b for a, b in zip(earlier, row, strict=True)]) for pivot, earlier in rows]
        rows.append((lead, row))
    pivots = {pivot for pivot, _ in rows}
    changed = list(point)
    for pivot, row in rows:
        others = (value * point[k] for k, value in enumerate(row) if k != pivot and k not in pivots)
        changed[pivot] = -sum(others, Fraction(0))
    return changed


def multipliers(sides: Sequence[Side], n: int) -> list[Fraction] | None:
    """Non-negative numbers with sum over sides of number times form = 0, not all zero on strict sides: no x exists."""
    from scipy.optimize import linprog

    matrix = np.array([[float(value) for value in side.form] for side in sides])
    strict = np.array([float(side.strict) for side in sides])
    found = linprog(
        np.ones(len(sides)),
        A_eq=np.vstack([matrix.T, strict]),
        b_eq=np.concatenate([np.zeros(n), [1.0]]),
        bounds=[(0, None)] * len(sides),
        method="highs",
    )
    if found.status != 0:
        return None
    assert found.x is not None
    for denominator in (*DENOMINATORS, 10**9):
        numbers = [Fraction(value).limit_denominator(denominator) for value in found.x]
        if proves_empty(sides, numbers):
            return numbers
    return None


def proves_empty(sides: Sequence[Side], numbers: Sequence[Fraction]) -> bool:
    """Whether the numbers are such multipliers."""
    if len(numbers) != len(sides) or min(numbers, default=Fraction(0)) < 0:
        return False
    total = [
        sum((c * side.form[k] for c, side in zip(numbers, sides, strict=True)), Fraction(0))
        for k in range(len(sides[0].form))
    ]
    return not any(total) and any(c and side.strict for c, side in zip(numbers, sides, strict=True))
