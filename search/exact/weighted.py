"""Weighted trimmed means: the worst case over all divisions of the weights, in one dimension and so in every one.

``kappaguard.rules.weighted`` has the criterion. Let S weigh m, its complement B <= f, and let F be the mean of the
sorted values between the places low and W - low of W, low >= B. F grows with every value, so let F >= mean and all
Byzantine values lie above the honest ones (the mirror image is the same). Let A(t) be the part of the window among
the honest values down to weight t from the top, between 0 and W - 2 low: a line that rises from t = low - B to m -
low. Then

    m (F - mean) = sum of c_j h_j,   c_j = C(end of j) - C(beginning of j),   C(t) = m A(t)/(W - 2 low) - t,

the workers being sorted by value, each over the stretch of t that is its weight. As in ``coordinates`` the largest
ratio for one order is (1/m) sum of length * slope^2 over the least concave majorant of C at the ends of workers, and
it is attained where each h_j is its slope. C falls with slope -1, rises to its only peak at m - low, and falls with
slope -1 to C(m) = 0. On the first fall C <= 0; on the rise C(t)/t grows, so that only the last end before the peak is
on the majorant; after it only the first, as the others are on the line from there to the end. So an order matters
only by what lies above the worker that spans the peak: its weight, a sum over some other workers of S. All such sums
are gone through, for all S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from kappaguard.rules.base.errors import InputError

MOST_SETS = 100_000
Point = tuple[int, Fraction]


@dataclass(frozen=True)
class WeightedInput:
    """A worst input: the value of every worker on a line, who is honest, and the ratio."""

    values: tuple[Fraction, ...]
    honest: tuple[int, ...]
    ratio: Fraction


def byzantine_sets(weights: Sequence[int], f: int) -> Iterator[tuple[int, ...]]:
    """One set of workers that weigh at most f for every choice of weights, the heavier ones first."""
    places = sorted(range(len(weights)), key=lambda i: -weights[i])
    pending: list[tuple[int, int, tuple[int, ...]]] = [(0, f, ())]
    done = 0
    while pending:
        start, left, chosen = pending.pop()
        done += 1
        if done > MOST_SETS:
            raise InputError(f"more than {MOST_SETS} sets of workers weigh at most {f}: round the weights")
        yield chosen
        seen: set[int] = set()
        for place in range(start, len(places)):
            weight = weights[places[place]]
            if weight <= left and weight not in seen:
                # of equal weights only the first is taken where none before it was
                seen.add(weight)
                pending.append((place + 1, left - weight, (*chosen, places[place])))


def worst_input(weights: Sequence[int], low: int, f: int) -> WeightedInput:
    """The worst input of the mean of the window from ``low`` to W - ``low``."""
    best: tuple[Fraction, tuple[int, ...], list[tuple[tuple[int, ...], Fraction]]] | None = None
    for byzantine in byzantine_sets(weights, f):
        held = sum(weights[i] for i in byzantine)
        honest = tuple(i for i in range(len(weights)) if i not in byzantine)
        found = _worst_division(weights, honest, low, held)
        if best is None or found[0] > best[0]:
            best = found[0], byzantine, found[1]
    assert best is not None
    ratio, byzantine, slopes = best
    values = [Fraction(0)] * len(weights)
    for members, slope in slopes:
        for i in members:
            values[i] = slope
    top = max(slope for _, slope in slopes) + 1
    for i in byzantine:
        values[i] = top
    return WeightedInput(tuple(values), tuple(i for i in range(len(weights)) if i not in byzantine), ratio)


def _worst_division(
    weights: Sequence[int], honest: tuple[int, ...], low: int, held: int
) -> tuple[Fraction, list[tuple[tuple[int, ...], Fraction]]]:
    """The largest ratio for one S, and the workers with their values."""
    m = sum(weights[i] for i in honest)
    width = m + held - 2 * low

    def height(t: int) -> Fraction:
        inside = max(0, min(t, m - low) - max(0, low - held))
        return Fraction(m * inside, width) - t

    best: tuple[Fraction, list[tuple[tuple[int, ...], Fraction]]] = (Fraction(0), [(honest, Fraction(0))])
    for weight in {weights[i] for i in honest}:
        spanning = next(i for i in honest if weights[i] == weight)
        for above, members in _sums(weights, [i for i in honest if i != spanning]).items():
            first, second = (above, height(above)), (above + weight, height(above + weight))
            hull = majorant([(0, Fraction(0)), first, second, (m, Fraction(0))])
            value = sum(((b[0] - a[0]) * _slope(a, b) ** 2 for a, b in pairwise(hull)), Fraction(0))
            if value / m > best[0]:
                below = tuple(i for i in honest if i != spanning and i not in members)
                groups = [(members, 0, above), ((spanning,), above, above + weight), (below, above + weight, m)]
                best = value / m, [(who, _over(hull, start, end)) for who, start, end in groups if who]
    return best


def _sums(weights: Sequence[int], places: list[int]) -> dict[int, tuple[int, ...]]:
    """Every sum of weights over some of the places, with one choice that has it."""
    found: dict[int, tuple[int, ...]] = {0: ()}
    for i in places:
        found = {total + weights[i]: (*members, i) for total, members in found.items()} | found
        if len(found) > MOST_SETS:
            raise InputError(f"the weights have more than {MOST_SETS} different sums: round them")
    return found


def majorant(points: list[Point]) -> list[Point]:
    """The corners of the least concave majorant of points that are sorted by place."""
    hull: list[Point] = []
    for point in points:
        if hull and hull[-1][0] == point[0]:
            continue
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _slope(a: Point, b: Point) -> Fraction:
    return (b[1] - a[1]) / (b[0] - a[0])


def _over(hull: list[Point], start: int, end: int) -> Fraction:
    """The slope of the majorant over a stretch that has no corner inside."""
    return next(_slope(a, b) for a, b in pairwise(hull) if a[0] <= start and end <= b[0])
