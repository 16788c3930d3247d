"""The vectors nearest to a centre by coordinates: the smallest bound, and inputs that come near it.

How the bound is proved stands in ``verify/judge/centre.py``. For each number r of Byzantine vectors that are chosen,
the largest ||F||^2 in the Gram matrix of the mean of the chosen honest vectors, the centre and the mean of the chosen
Byzantine ones, and in the variances of the honest vectors chosen and not chosen, is a small semidefinite program; its
dual has the bound and three multipliers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.recipe.recipe import NearVector, OrderStatistics, Recipe
from kappaguard.search.exact import coordinates
from kappaguard.search.exact.conic import NoAnswer, Program, packed, solve

Floats = NDArray[np.float64]


def applies(recipe: Recipe, f: int) -> bool:
    """Whether the centre is bounded, and no more vectors are chosen than are honest."""
    choice = recipe.choice
    return (
        isinstance(choice, NearVector)
        and not recipe.mixing
        and choice.count <= recipe.n - f
        and coordinates.applies(centre_of(recipe), f)
    )


def centre_of(recipe: Recipe) -> Recipe:
    """The centre as a recipe of its own."""
    assert isinstance(recipe.choice, NearVector)
    return Recipe(recipe.n, OrderStatistics(recipe.choice.weights))


def centre_bound(recipe: Recipe, f: int) -> tuple[Fraction, list[Any]]:
    """The bound of the centre, and the runs that prove it, for either side."""
    bound, cells = coordinates.certified_cells(centre_of(recipe), f)
    return bound, [next(cell["runs"] for cell in cells if cell["upwards"] is upwards) for upwards in (True, False)]


def bound_of(recipe: Recipe, f: int, upper: float | None = None) -> tuple[float, list[list[float]]]:
    """The smallest bound, and the multipliers of each case; for a given bound, multipliers that leave room."""
    choice = recipe.choice
    assert isinstance(choice, NearVector)
    centre = float(centre_bound(recipe, f)[0])
    found = [_case(recipe.n - f, choice.count, r, centre, upper) for r in range(min(f, choice.count) + 1)]
    return max(value for value, _ in found), [multipliers for _, multipliers in found]


def _case(m: int, h: int, r: int, centre: float, upper: float | None) -> tuple[float, list[float]]:
    """The bound of a case and its multipliers p, q, t; infinite if no solver knows one."""
    a = h - r
    u = m - a
    if u == 0:
        return 0.0, [0.0, 0.0, 0.0]
    alpha, nu = np.array([float(a > 0), 0, 0]), np.array([-a / u, 0, 0])
    middle, beta = np.array([0.0, 1, 0]), np.array([0, 0, float(r > 0)])
    variance = (a * _square(alpha) + u * _square(nu)) / m
    near = _square(nu - middle)
    # upper, p, q, t: what each adds to the coefficient of w, to that of s, and to the form
    columns = [
        (True, u / m, a / m, variance),
        (True, -centre * u / m, -centre * a / m, _square(middle) - centre * variance),
        (r > 0, -1.0, 0.0, _square(beta - middle) - near),
        (a > 0, -1.0, 1.0, _square(alpha - middle) - near),
    ]
    # what is not there has no row: with it, the cone would have no interior
    there = np.flatnonzero([a > 0, True, r > 0])
    scatter = [True, a > 0]
    used = [place for place, column in enumerate(columns) if column[0]]
    linear = np.array([columns[place][1:3] for place in used]).T[scatter]
    forms = np.array([packed(columns[place][3][np.ix_(there, there)]) for place in used]).T
    output = packed(_square((a * alpha + r * beta) / h)[np.ix_(there, there)])
    matrix = -np.vstack([linear, np.eye(len(used)), forms])
    right = np.concatenate([np.zeros(len(matrix) - len(output)), -output])
    objective = np.eye(len(used))[0]
    if upper is not None:
        # any multipliers will do: an interior-point method ends in the middle of them
        right, matrix, objective = right - upper * matrix[:, 0], matrix[:, 1:], np.zeros(len(used) - 1)
    try:
        point = solve(Program(objective, matrix, right, 0, len(matrix) - len(output), len(there))).point
    except NoAnswer:
        return np.inf, [0.0, 0.0, 0.0]
    values = dict(zip(used if upper is None else used[1:], map(float, point), strict=True))
    return values.get(0, upper or 0.0), [max(values.get(place, 0.0), 0.0) for place in (1, 2, 3)]


def _square(vector: Floats) -> Floats:
    return np.outer(vector, vector)


def worst_inputs(recipe: Recipe, f: int) -> Iterator[list[list[Fraction]]]:
    """Inputs on a line and in the plane, the honest vectors first."""
    yield from _on_a_line(recipe, f)
    yield from _in_the_plane(recipe, f)


def _in_the_plane(recipe: Recipe, f: int) -> Iterator[list[list[Fraction]]]:
    """Honest vectors on the diagonal, Byzantine ones above the centre in one coordinate and below it in the other.

    So the centre leaves the diagonal: for the median between two groups it is as far from both as they are from each
    other, over the root of two. The Byzantine vectors stand beyond it, as seen from the mean, as far as honest ones.
    """
    m = recipe.n - f
    choice = recipe.choice
    assert isinstance(choice, NearVector)
    for upwards, _, runs, _ in coordinates.cells(centre_of(recipe), f):
        honest = [value for count, value in runs for _ in range(count)]
        given = choice.weights[::-1] if upwards else choice.weights
        high = sum((given[f + i] * honest[i] for i in range(m)), Fraction(0))
        low = sum((given[i] * honest[i] for i in range(m)), Fraction(0))
        mean = sum(honest, Fraction(0)) / m
        away = np.array([float(high - mean), float(low - mean)])
        size = float(np.linalg.norm(away))
        for reach in sorted({float((high - value) ** 2 + (low - value) ** 2) ** 0.5 for value in honest}):
            if size and reach:
                step = [Fraction(each).limit_denominator(10**9) for each in (away / size * reach).tolist()]
                place = [base + part * (1 - coordinates.TRIFLE) for base, part in zip((high, low), step, strict=True)]
                yield [[value, value] for value in honest] + [place] * f


def _on_a_line(recipe: Recipe, f: int) -> Iterator[list[list[Fraction]]]:
    """Where the centre is farthest off, Byzantine values as far beyond it as the farthest honest value is before it."""
    m = recipe.n - f
    choice = recipe.choice
    assert isinstance(choice, NearVector)
    for upwards, _, runs, _ in coordinates.cells(centre_of(recipe), f):
        honest = [value for count, value in runs for _ in range(count)]
        given = choice.weights[::-1] if upwards else choice.weights
        centre = sum((given[f + i] * honest[i] for i in range(m)), Fraction(0))
        for farthest in dict.fromkeys((honest[-1], honest[-min(f, m)], honest[-(m // 2 + 1)])):
            if centre <= farthest:
                continue
            place = centre + (centre - farthest) * (1 - coordinates.TRIFLE)
            values = honest + [place] * f
            yield [[value if upwards else -value] for value in values]
            if f > 1:
                beyond = centre + (centre - farthest) * 1000
                yield [[value if upwards else -value] for value in [*honest, *[place] * (f - 1), beyond]]
