"""From the means and scatters of roles to vectors with rational coordinates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.forms import Orbits

NEGLIGIBLE = 1e-9


def rows(
    roles: Orbits, means: NDArray[np.float64], scatters: NDArray[np.float64], groups: int, bits: int
) -> dict[str, list[list[Fraction]]]:
    """Vectors per role: its mean plus the corners of a regular simplex of the right size, in new coordinates.

    The corners e_i - (1/k) sum_j e_j are all equally far from each other and from their mean; their scatter is
    k - 1. With at most ``groups`` corners, the members take turns, which keeps the dimension small.
    """
    means = means[:, np.abs(means).max(axis=0) > NEGLIGIBLE * np.abs(means).max()]
    corners = [
        min(roles.size(name), groups) if roles.size(name) > 1 and scatter > NEGLIGIBLE else 0
        for name, scatter in zip(roles.names, scatters, strict=True)
    ]
    result: dict[str, list[list[Fraction]]] = {}
    for index, name in enumerate(roles.names):
        mean = [_round(value, bits) for value in means[index]]
        size, width, before = roles.size(name), corners[index], sum(corners[:index])
        spread = size * (1 - 1 / width) if width else 1.0
        scale = _round(math.sqrt(scatters[index] / spread), bits)
        result[name] = []
        for member in range(size):
            simplex = [Fraction(0)] * sum(corners)
            for k in range(width):
                simplex[before + k] = scale * (Fraction(int(k == member % width)) - Fraction(1, width))
            result[name].append(mean + simplex)
    return result


def _round(value: float, bits: int) -> Fraction:
    return Fraction(round(value * 2**bits), 2**bits)
