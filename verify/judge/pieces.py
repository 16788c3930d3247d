"""Coordinate-wise recipes in pieces: what proves (F - mean)^2 <= upper V along every way through the forks.

Along a way F = sum w_r x_r with sorted values x_0 <= ... <= x_(n-1), and on its closed cone g.x >= 0 for the gaps
x_(r+1) - x_r and for the forks' forms, with the sign of the side that was taken. Let s = 1 (or -1: for mean - F). With
multipliers c >= 0 let u = s w + sum c g. Then s F <= sum u_r x_r. Let h_0 <= ... <= h_(m-1) be the honest values,
m = n - f. As r + 1 of them are at most h_r, x_r <= h_r for r < m. As at most f of the r + 1 smallest values are
Byzantine, x_r >= h_(r-f) for r >= f. So if u_r <= 0 for r >= m and u_r >= 0 for r < f,

    s F <= sum over u_r > 0 of u_r h_r  +  sum over u_r < 0 of u_r h_(r-f) ,

and m s (F - mean) <= sum v_i h_i for the v that collects these times m, minus s, of sum zero. From there on it is as in
``coordinates``: p, non-increasing from the largest value on, with partial sums at least those of v.

A way that no input goes has multipliers c >= 0 with sum c g = 0, not all zero on strict sides.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.recipe import Fork, Nowhere, OrderStatistics, Pieces, Recipe
from kappaguard.verify.judge.coordinates import check_runs
from kappaguard.verify.judge.numbers import number
from kappaguard.verify.judge.rejected import demand

Way = tuple[tuple[Fork, bool], ...]


def check_pieces(recipe: Recipe, f: int, upper: Fraction, parts: Any) -> int:
    """Reject unless every way is proved, in both directions, or empty; how many parts there are."""
    assert isinstance(recipe.choice, Pieces)
    demand(not recipe.mixing, "pieces behind mixing are not certified")
    ways = recipe.choice.ways()
    needed: set[tuple[int, bool | None]] = set()
    for place, (_, end) in enumerate(ways):
        needed |= {(place, None)} if isinstance(end, Nowhere) else {(place, True), (place, False)}
    demand(isinstance(parts, list) and len(parts) == len(needed), f"{len(needed)} parts are needed")
    for part in parts:
        demand(isinstance(part, dict), "a part is an object")
        empty = set(part) == {"way", "empty"}
        demand(empty or set(part) == {"way", "upwards", "multipliers", "runs"}, "a part has other fields")
        key = (part["way"], None if empty else part["upwards"])
        demand(type(key[0]) is int and type(key[1]) in (bool, type(None)) and key in needed, "a part is not needed")
        needed.remove(key)
        way, end = ways[key[0]]
        if empty:
            _check_empty(recipe.n, way, part["empty"])
        else:
            assert isinstance(end, OrderStatistics)
            bound = _bound(recipe.n, f, way, end.weights, part["upwards"], _numbers(part["multipliers"], recipe.n, way))
            check_runs(bound, upper, part["runs"])
    return len(parts)


def _numbers(given: Any, n: int, way: Way) -> list[Fraction]:
    demand(isinstance(given, list) and len(given) == n - 1 + len(way), "a multiplier is missing")
    found = [number(each) for each in given]
    demand(min(found, default=Fraction(0)) >= 0, "a multiplier is negative")
    return found


def _forms(n: int, way: Way) -> list[tuple[tuple[Fraction, ...], bool]]:
    """The forms that are not negative on a way, and which of them are positive."""
    found = [(tuple(Fraction((k == r + 1) - (k == r)) for k in range(n)), False) for r in range(n - 1)]
    for fork, holds in way:
        found.append((fork.form, fork.strict) if holds else (tuple(-each for each in fork.form), not fork.strict))
    return found


def _total(numbers: list[Fraction], n: int, way: Way) -> list[Fraction]:
    total = [Fraction(0)] * n
    for factor, (form, _) in zip(numbers, _forms(n, way), strict=True):
        if factor:
            total = [a + factor * b for a, b in zip(total, form, strict=True)]
    return total


def _check_empty(n: int, way: Way, given: Any) -> None:
    numbers = _numbers(given, n, way)
    demand(not any(_total(numbers, n, way)), "the multipliers of an empty way do not add up to zero")
    positive = any(each and strict for each, (_, strict) in zip(numbers, _forms(n, way), strict=True))
    demand(positive, "an empty way needs a multiplier of a strict side")


def _bound(
    n: int, f: int, way: Way, weights: tuple[Fraction, ...], upwards: bool, numbers: list[Fraction]
) -> list[Fraction]:
    """v, from the largest honest value on."""
    m, sign = n - f, 1 if upwards else -1
    combined = [sign * weight + extra for weight, extra in zip(weights, _total(numbers, n, way), strict=True)]
    demand(all(value <= 0 for value in combined[m:]), "one of the f largest values has a positive weight")
    demand(all(value >= 0 for value in combined[:f]), "one of the f smallest values has a negative weight")
    found = [Fraction(-sign)] * m
    for place, value in enumerate(combined):
        if value > 0:
            found[place] += m * value
        elif value < 0:
            found[place - f] += m * value
    return found[::-1]
