"""Coordinate-wise recipes: the worst case in one dimension, which is that in every dimension.

Let h_1 >= ... >= h_m be the honest values and let all weights be non-negative. ``verify/judge/coordinates.py`` shows
that m (F - mean) is at most sum w_i h_i for one of a few weight vectors w, one for every number q of honest values
below the centre that are exchanged for Byzantine ones. The largest ratio under h_1 >= ... >= h_m is |p|^2 / m with p
the projection of w on non-increasing sequences, and it is attained where h is p itself and the Byzantine values are
as high as they can be: above all others, or just near enough to the centre.

Behind nnm ``verify/judge/mixed.py`` bounds a sum of w_i h_i over mixed values, w = (p + 1) / m, by 4 f / m times f
|w|^2 plus the squares of the sums of its positive and of its negative entries, or by 4 f |w|^2; each for all cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from kappaguard.rules.recipe.recipe import NearCentre, OrderStatistics, Recipe

TRIFLE = Fraction(1, 10**8)
"""How far, relatively, a worst input stays off its tie."""

WORST = 2
"""Cells whose worst inputs are tried."""

Runs = list[tuple[int, Fraction]]


def applies(recipe: Recipe, f: int) -> bool:
    """Whether the cells here cover the recipe: at most one layer of nnm, and weights that are not negative."""
    choice = recipe.choice
    return (
        isinstance(choice, OrderStatistics | NearCentre)
        and recipe.mixing in ((), (recipe.n - f,))
        and all(weight >= 0 for weight in choice.weights)
        and not _outer(recipe, f)
        and (isinstance(choice, OrderStatistics) or choice.count <= recipe.n - f)
    )


def _outer(recipe: Recipe, f: int) -> bool:
    """Whether the f smallest or largest values have weight: then the adversary decides alone."""
    weights = recipe.choice.weights  # type: ignore[union-attr]
    return any(weights[place] or weights[-1 - place] for place in range(f))


def bounding_weights(recipe: Recipe, f: int, upwards: bool = True) -> list[tuple[int, list[Fraction]]]:
    """Per q, the weights w; ``upwards`` for F >= mean, else for the mirror image."""
    n, m = recipe.n, recipe.n - f
    choice = recipe.choice
    assert isinstance(choice, OrderStatistics | NearCentre)
    given = choice.weights[::-1] if upwards else choice.weights
    centre = [given[f + i] if f + i < n else Fraction(0) for i in range(m)]
    if isinstance(choice, OrderStatistics):
        return [(0, [m * weight - 1 for weight in centre])]
    found = []
    k = choice.count
    for q in range(min(f, k) + 1):
        row = [Fraction(int(i < k - q) - int(i >= m - q)) + 2 * q * centre[i] for i in range(m)]
        found.append((q, [Fraction(m, k) * value - 1 for value in row]))
    return found


def projected(weights: list[Fraction]) -> Runs:
    """The projection on non-increasing sequences, as runs, by pooling adjacent violators."""
    runs: Runs = []
    for weight, same in groupby(weights):
        runs.append((len(list(same)), weight))
        while len(runs) > 1 and runs[-2][1] <= runs[-1][1]:
            (a, left), (b, right) = runs[-2:]
            runs[-2:] = [(a + b, (a * left + b * right) / (a + b))]
    return runs


@lru_cache(maxsize=64)
def cells(recipe: Recipe, f: int) -> tuple[tuple[bool, int, tuple[tuple[int, Fraction], ...], Fraction], ...]:
    """Every cell: whether it is for F >= mean, q, the runs of p, and the bound |p|^2 / m."""
    found = []
    for upwards in (True, False):
        for q, weights in bounding_weights(recipe, f, upwards):
            runs = tuple(projected(weights))
            bound = sum((count * value**2 for count, value in runs), Fraction(0)) / (recipe.n - f)
            found.append((upwards, q, runs, bound))
    return tuple(found)


def certified_cells(recipe: Recipe, f: int) -> tuple[Fraction, list[dict[str, object]]]:
    """The bound, and for every cell the runs of p that prove it."""
    every = cells(recipe, f)
    written: list[dict[str, object]] = [
        {"upwards": upwards, "q": q, "runs": [[count, str(value)] for count, value in runs]}
        for upwards, q, runs, _ in every
    ]
    if recipe.mixing:
        return _mixed([runs for _, _, runs, _ in every], recipe.n, f), written
    return max(bound for _, _, _, bound in every), written


def _mixed(lists: list[tuple[tuple[int, Fraction], ...]], n: int, f: int) -> Fraction:
    """The bound behind nnm."""
    m = n - f
    shares = [[(count, (value + 1) / m) for count, value in runs] for runs in lists]
    squares = [sum(count * share**2 for count, share in runs) for runs in shares]
    sums = [sum(count * max(share, Fraction(0)) for count, share in runs) for runs in shares]
    directed = [f * square + above**2 + (above - 1) ** 2 for square, above in zip(squares, sums, strict=True)]
    return Fraction(4 * f, m) * min(max(directed), m * max(squares))


def worst_inputs(recipe: Recipe, f: int) -> Iterator[list[list[Fraction]]]:
    """Inputs on a line, the honest values first, that attain the bounds or come near."""
    n = recipe.n
    choice = recipe.choice
    assert isinstance(choice, OrderStatistics | NearCentre)
    if recipe.mixing:
        yield from _mixed_inputs(n, f)
        return
    # a judgement costs more than a projection: only those that are worst
    for upwards, q, runs, _ in sorted(cells(recipe, f), key=lambda cell: -cell[3])[:WORST]:
        honest = [value for count, value in runs for _ in range(count)]
        for place in _places(choice, honest, q, n, f, upwards):
            near = q if isinstance(choice, NearCentre) else f
            far = max(abs(value) for value in [*honest, place]) * 1000 + 1
            values = honest + [place] * near + [far] * (f - near)
            yield [[value if upwards else -value] for value in values]


def _mixed_inputs(n: int, f: int) -> Iterator[list[list[Fraction]]]:
    """f honest values low, k high, the others at 0, and Byzantine ones that the k prefer to the f by a trifle."""
    for k in sorted({n - 2 * f, n // 2 + 1 - f}) if f else ():
        low, high = Fraction(-1, f), Fraction(1, k)
        values = [low] * f + [high] * k + [Fraction(0)] * (n - 2 * f - k) + [2 * high - low - TRIFLE] * f
        yield [[value] for value in values]


def _places(
    choice: OrderStatistics | NearCentre, honest: list[Fraction], q: int, n: int, f: int, upwards: bool
) -> Iterator[Fraction]:
    """Where the Byzantine values go: above all others, or as far above the centre as the lowest are below it."""
    yield honest[0] + 1
    if isinstance(choice, NearCentre) and q:
        given = choice.weights[::-1] if upwards else choice.weights
        centre = sum((given[f + i] * honest[i] for i in range(n - f)), Fraction(0))
        yield centre + (centre - honest[-q]) * (1 - TRIFLE)
        yield centre + (centre - honest[-1]) * (1 - TRIFLE)
