"""Directions from a pivot: inner products that survive vectors which are very far or very near.

Seen from a pivot c, vector j is at distance r_j in direction v_j. The matrix V of inner products of directions has
entries in [-1, 1] whatever the distances are, so that neither a vector at 1e20 nor one at 1e-20 spoils the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, bounded, device_of, in_double, namespace
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.distances import is_safe

WIDEST = 1e2
"""Up to this ratio of the largest to the smallest distance, directions follow from squared distances."""
SAME = 1e-11
"""Vectors nearer to the pivot than this part of the median distance count as equal to it."""
FARTHER = 10.0
"""Inner products about one point serve a pivot that sees nothing from nearer than a tenth of that one's distance.

G_ij is right to 1e-14 of ||x_i - y|| ||x_j - y||, so that G_ij - G_ip - G_pj + G_pp is then right to 5e-12 of the
lengths that the pivot p sees.
"""
BLOCK = 1 << 16


class PivotView(NamedTuple):
    """What a pivot sees: distances r of shape (..., n) and inner products V of directions, (..., n, n).

    ``active`` marks the vectors that are finite; the others, and those equal to the pivot, have direction zero.
    ``wide`` says that distances differ by more than ``WIDEST``.
    """

    pivot: Array
    radius: Array
    directions: Array
    active: Array
    wide: bool


def view_from(cloud: Cloud, pivot: Array) -> PivotView:
    """The view from vector number ``pivot`` (of shape (...)), which must be finite; in the unit of the distances."""
    distances = cloud.distances
    xp = namespace(distances)
    squares = xp.take_along_axis(distances, pivot[..., None, None], axis=-2)[..., 0, :]
    active = xp.isfinite(squares)
    squares = xp.where(active, squares, xp.zeros_like(squares))
    radius = xp.sqrt(squares)
    ordered = xp.sort(radius, axis=-1)[..., radius.shape[-1] // 2 :][..., :1]
    radius = xp.where(radius <= SAME * ordered, xp.zeros_like(radius), radius)
    squares = xp.where(radius == 0, xp.zeros_like(squares), squares)
    apart = radius > 0
    smallest = xp.min(xp.where(apart, radius, xp.full_like(radius, float("inf"))), axis=-1)
    wide = bool(xp.any(xp.max(radius, axis=-1) > WIDEST * smallest)) or not bool(xp.all(xp.isfinite(distances)))
    safe = xp.where(apart, radius, xp.ones_like(radius))
    if wide:
        directions = _from_points(cloud, pivot, apart)
    else:
        inner = (squares[..., :, None] + squares[..., None, :] - distances) / 2
        directions = inner / (safe[..., :, None] * safe[..., None, :])
    both = apart[..., :, None] & apart[..., None, :]
    directions = xp.where(both, bounded(directions, -1.0, 1.0), xp.zeros_like(directions))
    return PivotView(pivot, radius, directions, active, wide)


def _from_points(cloud: Cloud, pivot: Array, apart: Array) -> Array:
    """V from the coordinates: difference to the pivot, scaled to length one, multiplied out block by block."""
    points = cloud.points
    xp = namespace(points)
    total = xp.zeros((*apart.shape, apart.shape[-1]), dtype=xp.float64, device=device_of(points))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if native.applies(points):
            found = _from_inner_products(native.gram_about(points, points[int(pivot)], points[:0]), apart)
            if found is not None:
                return found
        longest, length = _lengths(points, pivot, apart)
        for start in range(0, points.shape[-1], BLOCK):
            part = _offset(points[..., start : start + BLOCK], pivot, apart)
            unit = part / longest[..., None] / length[..., None]
            total = total + xp.matmul(unit, xp.matrix_transpose(unit))
    return total


def _from_inner_products(gram: NDArray[np.float64], apart: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """V from the inner products of differences to the pivot; None where their squares overflow or vanish."""
    squares = np.where(apart, gram.diagonal(), 1.0)
    if not is_safe(squares):
        return None
    lengths = np.sqrt(squares)
    return gram / lengths[:, None] / lengths


def _offset(block: Array, pivot: Array, apart: Array) -> Array:
    xp = namespace(block)
    block = in_double(block)
    origin = xp.take_along_axis(block, pivot[..., None, None], axis=-2)
    clean = xp.where(apart[..., None], block, xp.zeros_like(block))
    return xp.where(apart[..., None], clean - origin, xp.zeros_like(block))


def _lengths(points: Array, pivot: Array, apart: Array) -> tuple[Array, Array]:
    """Per vector its largest difference to the pivot, and its length in that unit: squares cannot overflow."""
    xp = namespace(points)
    starts = range(0, points.shape[-1], BLOCK)
    longest = xp.zeros(apart.shape, dtype=xp.float64, device=device_of(points))
    for start in starts:
        part = _offset(points[..., start : start + BLOCK], pivot, apart)
        longest = xp.maximum(longest, xp.max(xp.abs(part), axis=-1))
    longest = xp.where(longest > 0, longest, xp.ones_like(longest))
    square = xp.zeros(apart.shape, dtype=xp.float64, device=device_of(points))
    for start in starts:
        part = _offset(points[..., start : start + BLOCK], pivot, apart) / longest[..., None]
        square = square + xp.sum(part * part, axis=-1)
    return longest, xp.sqrt(xp.where(square > 0, square, xp.ones_like(square)))
