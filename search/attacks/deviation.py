"""The coordinate-wise variance of a few long vectors."""

from __future__ import annotations

from kappaguard.rules.base.arrays import Array, namespace


def variance(honest: Array, mean: Array) -> Array:
    """(1/m) sum_i (x_i - mean)^2 per coordinate, row by row: a reduction over a short first axis is slow in torch."""
    total = namespace(honest).zeros_like(mean)
    for row in range(honest.shape[0]):
        offset = honest[row] - mean
        total += offset * offset
    return total / honest.shape[0]
