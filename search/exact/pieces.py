"""Coordinate-wise recipes in pieces: the smallest bound along every way, and inputs that come near it.

``verify/judge/pieces.py`` says what proves a bound: multipliers c >= 0 of the forms of a way, that turn the weights
into u with u_r <= 0 for the f largest and u_r >= 0 for the f smallest values. The smallest |p|^2 / m over all c is a
quadratic program: p = v + differences of k >= 0, where k_i is by how much the sum of p over the i
largest exceeds that of v.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.recipe.recipe import Nowhere, Pieces, Recipe
from kappaguard.rules.recipe.trace.cone import Form, Side, gaps, multipliers, onto
from kappaguard.search.exact.coordinates import projected

Floats = NDArray[np.float64]
DENOMINATORS = (1, 12, 60, 840, 5040, 55440, 720720, 10**9)
TRIED = 3
"""Ways, from the worst on, for which inputs are looked for."""
SMALL = 1e-7
PRICES = ((1e-6, 1e-11), (1e-6, 1e-8), (1e-4, 1e-9), (1e-3, 1e-8))
"""Of multipliers, and the solver's tolerance: the next where one leads nowhere."""
PASSES = 3


def certified_pieces(recipe: Recipe, f: int) -> tuple[Fraction, list[dict[str, object]]] | None:
    """The bound and its parts; None if some way has no multipliers: then kappa* may be infinite."""
    parts: list[dict[str, object]] = []
    most = Fraction(0)
    assert isinstance(recipe.choice, Pieces)
    for place, (way, end) in enumerate(recipe.choice.ways()):
        sides = sides_of(recipe.n, way)
        if isinstance(end, Nowhere):
            found = multipliers(sides, recipe.n)
            if found is None:
                return None
            parts.append({"way": place, "empty": [str(each) for each in found]})
            continue
        for upwards in (True, False):
            best = bound(recipe.n, f, [side.form for side in sides], end.weights, upwards)
            if best is None:
                return None
            value, numbers, runs = best
            most = max(most, value)
            written = {"multipliers": [str(each) for each in numbers], "runs": [[k, str(p)] for k, p in runs]}
            parts.append({"way": place, "upwards": upwards, **written})
    return most, parts


def sides_of(n: int, way: Any) -> list[Side]:
    """The inequalities along a way."""
    found = gaps(n)
    for fork, holds in way:
        form = fork.form if holds else tuple(-each for each in fork.form)
        found.append(Side(form, fork.strict if holds else not fork.strict))
    return found


def bound(
    n: int, f: int, forms: list[Form], weights: tuple[Fraction, ...], upwards: bool
) -> tuple[Fraction, list[Fraction], Any] | None:
    """The smallest |p|^2 / m that multipliers prove along a way, these, and the runs of p."""
    sign = 1 if upwards else -1
    solved = _multipliers(n, f, forms, sign * np.array([float(each) for each in weights]), sign)
    if solved is None:
        return None
    best: tuple[Fraction, list[Fraction], Any] | None = None
    for denominator in DENOMINATORS:
        numbers = [Fraction(max(each, 0.0)).limit_denominator(denominator) for each in solved.tolist()]
        numbers = _repaired(n, f, forms, weights, sign, numbers)
        vector = _bounding(n, f, forms, weights, sign, numbers)
        if vector is None:
            continue
        runs = projected(vector)
        value = sum((count * each**2 for count, each in runs), Fraction(0)) / (n - f)
        if best is None or value < best[0]:
            best = value, numbers, runs
    return best


def _repaired(
    n: int, f: int, forms: list[Form], weights: tuple[Fraction, ...], sign: int, numbers: list[Fraction]
) -> list[Fraction]:
    """Multipliers of which rounding gave an outer place the wrong sign, raised where that mends it."""
    found = list(numbers)
    for place in [*range(n - 1, n - f - 1, -1), *range(f)] * PASSES:
        value = sign * weights[place] + sum(
            (c * form[place] for c, form in zip(found, forms, strict=True)), Fraction(0)
        )
        wrong = 1 if place >= n - f else -1
        if value * wrong <= 0:
            continue
        # the form that is in use most, of those that pull the other way
        pulling = [index for index, form in enumerate(forms) if form[place] * wrong < 0]
        if pulling:
            index = max(pulling, key=lambda each: found[each])
            found[index] += value / -forms[index][place]
    return found


def _bounding(
    n: int, f: int, forms: list[Form], weights: tuple[Fraction, ...], sign: int, numbers: list[Fraction]
) -> list[Fraction] | None:
    """v from the largest honest value on; None if an outer place has the wrong sign."""
    m = n - f
    total = [sign * each for each in weights]
    for factor, form in zip(numbers, forms, strict=True):
        if factor:
            total = [a + factor * b for a, b in zip(total, form, strict=True)]
    if any(each > 0 for each in total[m:]) or any(each < 0 for each in total[:f]):
        return None
    found = [Fraction(-sign)] * m
    for place, value in enumerate(total):
        found[place if value > 0 else place - f] += m * value if value else 0
    return found[::-1]


def _multipliers(n: int, f: int, forms: list[Form], weights: Floats, sign: int) -> Floats | None:
    """min |p|^2 over c, k >= 0 and a, b >= 0 with a - b = weights + sum c g and p = m (a_i - b_(i+f)) - sign + dk."""
    m, count = n - f, len(forms)
    g = np.array([[float(each) for each in form] for form in forms])
    # variables: c (count), k (m - 1), a (n), b (n), p (m)
    size = count + (m - 1) + 2 * n + m
    c, k, a, b, p = np.cumsum([0, count, m - 1, n, n])
    rows, right = [], []
    for r in range(n):
        row = np.zeros(size)
        row[a + r], row[b + r] = 1.0, -1.0
        row[c : c + count] = -g[:, r]
        rows.append(row)
        right.append(weights[r])
    for i in range(m):
        row = np.zeros(size)
        row[p + i], row[a + i], row[b + i + f] = 1.0, -float(m), float(m)
        # k_i belongs to the sum of p over the values above i
        if i < m - 1:
            row[k + i] = 1.0
        if i > 0:
            row[k + i - 1] = -1.0
        rows.append(row)
        right.append(-float(sign))
    for place in [*range(a + m, a + n), *range(b, b + f)]:
        row = np.zeros(size)
        row[place] = 1.0
        rows.append(row)
        right.append(0.0)
    quadratic = np.zeros((size, size))
    quadratic[range(p, p + m), range(p, p + m)] = 2.0
    # of many multipliers that prove the same, small ones: those are fractions that can be recognised
    for price, tolerance in PRICES:
        linear = np.zeros(size)
        linear[c : c + count] = price
        point = _solved(quadratic, linear, np.array(rows), np.array(right), p, tolerance)
        if point is not None:
            return point[c : c + count]
    return None


def _solved(
    quadratic: Floats, linear: Floats, equal: Floats, right: Floats, nonnegative: int, tolerance: float
) -> Floats | None:
    """min z.Qz/2 + q.z with equal z = right and the first entries of z not negative."""
    import clarabel
    from scipy.sparse import csc_matrix

    size = len(linear)
    matrix = np.vstack([equal, -np.eye(nonnegative, size)])
    cones = [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(nonnegative)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    vector = np.concatenate([right, np.zeros(nonnegative)])
    found = clarabel.DefaultSolver(
        csc_matrix(np.triu(quadratic)), linear, csc_matrix(matrix), vector, cones, settings
    ).solve()
    point = np.array(found.x)
    residual = np.abs(equal @ point - right).max() if np.isfinite(point).all() else np.inf
    return point if residual < 1e-6 else None


def worst_pieces(recipe: Recipe, f: int) -> Iterator[tuple[list[list[Fraction]], list[int]]]:
    """Inputs on a line with the honest places among the sorted values, from the ways with the largest bounds."""
    assert isinstance(recipe.choice, Pieces)
    n = recipe.n
    ranked = []
    for way, end in recipe.choice.ways():
        if isinstance(end, Nowhere):
            continue
        sides = sides_of(n, way)
        for upwards in (True, False):
            best = bound(n, f, [side.form for side in sides], end.weights, upwards)
            ranked.append((-1 if best is None else best[0], sides, end.weights, upwards))
    ranked.sort(key=lambda each: -float("inf") if each[0] == -1 else -float(each[0]))
    for _, sides, weights, upwards in ranked[:TRIED]:
        goal = np.array([float(each) for each in weights]) * (1 if upwards else -1)
        for byzantine in _patterns(n, f):
            point = _extremal(n, sides, goal, 1.0 if upwards else -1.0, byzantine)
            if point is not None:
                yield [[value] for value in point], [i for i in range(n) if i not in byzantine]


def _patterns(n: int, f: int) -> Iterator[frozenset[int]]:
    """Where the Byzantine values may be among the sorted ones: some at an end, the others in a row anywhere."""
    seen = set()
    for outside in range(f + 1):
        for ends in (frozenset(range(outside)), frozenset(range(n - outside, n))):
            for start in range(n - (f - outside) + 1):
                pattern = ends | frozenset(range(start, start + f - outside))
                if len(pattern) == f and pattern not in seen:
                    seen.add(pattern)
                    yield pattern


def _extremal(n: int, sides: list[Side], goal: Floats, sign: float, byzantine: frozenset[int]) -> list[Fraction] | None:
    """The x of the cone with the largest goal.x - sign mean_S under variance at most 1, in fractions."""
    import clarabel
    from scipy.sparse import csc_matrix

    honest = [i for i in range(n) if i not in byzantine]
    m = len(honest)
    centred = np.zeros((m, n))
    centred[range(m), honest] = 1.0
    centred[:, honest] -= 1.0 / m
    objective = goal.copy()
    objective[honest] -= sign / m
    g = np.array([[float(each) for each in side.form] for side in sides])
    matrix = np.vstack([np.eye(1, n), -g, np.zeros((1, n)), -centred / np.sqrt(m), np.eye(n), -np.eye(n)])
    right = np.concatenate([[0.0], np.zeros(len(g)), [1.0], np.zeros(m), np.full(2 * n, 1e3)])
    cones = [
        clarabel.ZeroConeT(1),
        clarabel.NonnegativeConeT(len(g)),
        clarabel.SecondOrderConeT(m + 1),
        clarabel.NonnegativeConeT(2 * n),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    found = clarabel.DefaultSolver(csc_matrix((n, n)), -objective, csc_matrix(matrix), right, cones, settings).solve()
    x = np.array(found.x)
    if not np.isfinite(x).all() or objective @ x < 1e-6:
        return None
    active = [side.form for side, value in zip(sides, g @ x, strict=True) if abs(value) < SMALL]
    point = onto(active, [Fraction(value).limit_denominator(10**7) for value in x])
    return point if len(set(point)) > 1 else None
