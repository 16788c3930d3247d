"""Multipliers for a leaf that attains its bound: the form vanishes on the worst input, exactly.

Nothing is inside there, so rounding would break the proof. Instead the kernel of the form is read off an approximate
solution, rounded to simple fractions, and the linear equations that say so are solved in fractions, near the
approximate multipliers. If the bound, or what attains it, is not that simple, nothing comes out, and the checker has
the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from kappaguard.search.exact.space import Floats

FLAT = 3e-5
"""Eigenvalues that are smaller, relative to the largest, belong to the kernel."""
SMALL = 1e-6
SIMPLE = 5_000
"""The largest denominator in the entries of a kernel."""
COEFFICIENTS = 10**7

Rows = list[list[Fraction]]


def kernel_multipliers(blocks: Sequence[Floats], scalars: Floats, approximate: Floats) -> list[Fraction] | None:
    """Exact multipliers near approximate ones.

    ``blocks`` hold, for every block, the matrices of kappa V - E and of the inequalities; ``scalars`` their
    coefficients.
    """
    active = np.flatnonzero(approximate > SMALL * max(1.0, float(approximate.max(initial=0.0))))
    weights = np.concatenate([[1.0], -approximate])
    equations: Rows = []
    for block in blocks:
        form = np.tensordot(weights, block, 1)
        for vector in _kernel(form):
            if vector is None:
                return None
            products = [[_dot(row, vector) for row in matrix] for matrix in block[[0, *(active + 1)]]]
            equations += [[*(column[1:]), column[0]] for column in zip(*products, strict=True)]
    rest = weights @ scalars
    for place in np.flatnonzero(np.abs(rest) < 1e-5):
        column = [_coefficient(scalars[k, place]) for k in (0, *(active + 1))]
        equations.append([*column[1:], column[0]])
    found = _solve(equations, [float(approximate[k]) for k in active])
    if found is None or any(value < 0 for value in found):
        return None
    result = [Fraction(0)] * len(approximate)
    for k, value in zip(active, found, strict=True):
        result[k] = value
    return result


def _kernel(form: Floats) -> list[list[Fraction] | None]:
    """A basis of the kernel in simple fractions, in reduced form; None in place of a vector that has none."""
    values, vectors = np.linalg.eigh(form)
    flat = vectors[:, values < FLAT * max(1e-9, float(values[-1]))]
    count = flat.shape[1]
    basis: list[list[Fraction] | None] = []
    if not count:
        return basis
    pivots: list[int] = []
    left = flat.copy()
    for _ in range(count):
        row = int(np.argmax(np.abs(left).sum(axis=1)))
        pivots.append(row)
        direction = left[row] / np.linalg.norm(left[row])
        left = left - np.outer(left @ direction, direction)
    reduced = flat @ np.linalg.inv(flat[pivots])
    for column in reduced.T:
        simple = [Fraction(float(value)).limit_denominator(SIMPLE) for value in column]
        near = all(abs(float(exact) - value) < 1e-3 for exact, value in zip(simple, column, strict=True))
        basis.append([_simplest(float(value)) for value in column] if near else None)
    return basis


def _simplest(value: float) -> Fraction:
    """The fraction with the smallest denominator near a float that is good to a few digits."""
    for denominator in (1, 2, 3, 4, 6, 12, 60, 500, SIMPLE):
        found = Fraction(value).limit_denominator(denominator)
        if abs(float(found) - value) < 2e-5:
            return found
    return Fraction(value).limit_denominator(SIMPLE)


def _coefficient(value: float) -> Fraction:
    return Fraction(float(value)).limit_denominator(COEFFICIENTS)


def _dot(row: Floats, vector: list[Fraction]) -> Fraction:
    return sum((_coefficient(a) * b for a, b in zip(row, vector, strict=True) if b), Fraction(0))


def _solve(equations: Rows, near: list[float]) -> list[Fraction] | None:
    """A solution of linear equations (coefficients, right side) in fractions, near a point; None if there is none.

    Large unknowns are solved for, small ones are taken from the point.
    """
    count = len(near)
    order = sorted(range(count), key=lambda k: -near[k])
    rows = [list(row) for row in equations]
    pivots: dict[int, int] = {}
    used = 0
    for column in order:
        found = next((r for r in range(used, len(rows)) if rows[r][column]), None)
        if found is None:
            continue
        rows[used], rows[found] = rows[found], rows[used]
        head = rows[used][column]
        rows[used] = [value / head for value in rows[used]]
        for r, row in enumerate(rows):
            if r != used and row[column]:
                factor = row[column]
                rows[r] = [a - factor * b for a, b in zip(row, rows[used], strict=True)]
        pivots[column] = used
        used += 1
    if any(row[-1] for row in rows[used:]):
        return None
    values = [_simplest(value) for value in near]
    for column, r in pivots.items():
        others = sum((rows[r][k] * values[k] for k in range(count) if k not in pivots), Fraction(0))
        values[column] = rows[r][-1] - others
    return values
