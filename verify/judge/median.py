"""A rigorous enclosure of the geometric median of rational points.

For a rational y let z_j = x_j - y, d_j = ||z_j||, u_j = z_j/d_j, k the number of x_j equal to y, and

    g = || sum over d_j > 0 of u_j || - k,

so that the sum of distances phi falls from y at a rate of at most g in any direction. If g <= 0, y is a minimiser.
Otherwise, in direction v at step t <= R its second derivative is at least

    sum_j (d_j^2 - <z_j, v>^2) / (d_j + t)^3  >=  <v, A v>,     A = sum_j c_j (d_j^2 I - z_j z_j^T),

for every c_j <= 1/(d_j + R)^3, as d_j(t) <= d_j + t and every term is positive semidefinite. If A >= mu I and
R mu >= g, then phi does not fall any more at step R in any direction, and it is convex: a minimiser is at most R away
(the minimiser, if the points are not on one line, because it is unique then).

d_j^2, and with lower bounds c_j the whole matrix A, are rational; A >= mu I is decided by exact elimination, in d or in
n dimensions: with s = sum_j c_j d_j^2 - mu > 0, s I - Z^T C Z >= 0 if and only if s C^-1 - Z Z^T >= 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.judge.exact_numbers import (
    Vector,
    inner,
    is_semidefinite,
    minus,
    root_above,
    root_below,
    round_down,
)

ATTEMPTS = 60


@dataclass(frozen=True)
class Ball:
    """All points at most ``radius`` from ``centre``."""

    centre: tuple[Fraction, ...]
    radius: Fraction


def geometric_median(points: Sequence[Vector], guess: Vector) -> Ball:
    """A ball that contains the geometric median, around the guess or the point nearest to it.

    On one line with an even number of points, the minimisers are a segment, of which the midpoint is meant.
    """
    on_line = _median_on_line(points)
    if on_line is not None:
        return Ball(tuple(on_line), Fraction(0))
    nearest = min(points, key=lambda point: inner(minus(point, guess), minus(point, guess)))
    balls = [ball for ball in (_enclose(points, nearest), _enclose(points, guess)) if ball is not None]
    if not balls:
        raise InputError("the geometric median could not be enclosed: the approximation is too far from it")
    return min(balls, key=lambda ball: ball.radius)


def _median_on_line(points: Sequence[Vector]) -> list[Fraction] | None:
    """The median of points on one line, or None if they are on none."""
    offsets = [minus(point, points[0]) for point in points]
    direction = next((offset for offset in offsets if any(offset)), None)
    if direction is None:
        return list(points[0])
    square = inner(direction, direction)
    places = []
    for offset in offsets:
        place = inner(offset, direction) / square
        if any(value != place * along for value, along in zip(offset, direction, strict=True)):
            return None
        places.append(place)
    places.sort()
    middle = (places[(len(places) - 1) // 2] + places[len(places) // 2]) / 2
    return [start + middle * along for start, along in zip(points[0], direction, strict=True)]


def _enclose(points: Sequence[Vector], y: Vector) -> Ball | None:
    apart = [offset for offset in (minus(point, y) for point in points) if any(offset)]
    here = len(points) - len(apart)
    squares = [inner(offset, offset) for offset in apart]
    descent = _pull_above(apart, squares) - here
    if descent <= 0:
        return Ball(tuple(y), Fraction(0))
    reach = descent * root_above(sorted(squares)[len(squares) // 2], 64)
    # the curvature is about one over a distance times a number of points, unless the points nearly lie on one line
    radius = round_down(reach / len(points), 32)
    best = None
    for _ in range(ATTEMPTS):
        weights = [round_down(1 / (root_above(square, 64) + radius) ** 3, 48) for square in squares]
        if _curved(apart, squares, weights, descent / radius):
            best = radius
            break
        radius *= 2
    return None if best is None else Ball(tuple(y), best)


def _pull_above(offsets: Sequence[Vector], squares: Sequence[Fraction]) -> Fraction:
    """An upper bound on the length of the sum of the directions."""
    total = [Fraction(0)] * len(offsets[0])
    slack = [Fraction(0)] * len(offsets[0])
    for offset, square in zip(offsets, squares, strict=True):
        low, high = 1 / root_above(square), 1 / root_below(square)
        low = round_down(low, 160)
        for place, value in enumerate(offset):
            total[place] += value * low
            slack[place] += abs(value) * (high - low)
    largest = [abs(value) + more for value, more in zip(total, slack, strict=True)]
    return root_above(inner(largest, largest))


def _curved(
    offsets: Sequence[Vector], squares: Sequence[Fraction], weights: Sequence[Fraction], least: Fraction
) -> bool:
    """Whether A >= least I."""
    level = inner(weights, squares) - least
    if level <= 0:
        return False
    count, width = len(offsets), len(offsets[0])
    if width <= count:
        matrix = [[Fraction(0)] * width for _ in range(width)]
        for row in range(width):
            for column in range(row, width):
                total = sum(
                    (w * offset[row] * offset[column] for w, offset in zip(weights, offsets, strict=True)), Fraction(0)
                )
                matrix[row][column] = matrix[column][row] = (level if row == column else 0) - total
        return is_semidefinite(matrix)
    products = [[-inner(a, b) for b in offsets] for a in offsets]
    for row, weight in enumerate(weights):
        products[row][row] += level / weight
    return is_semidefinite(products)
