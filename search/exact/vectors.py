"""From the means and scatters of roles to vectors with rational coordinates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.forms import Orbits

NEGLIGIBLE = 1e-9


def rows(
    roles: Orbits, means: NDArray[np.float64], scatters: NDArray[np.float64], bits: int
) -> dict[str, list[list[Fraction]]]:
    """Vectors per role: its mean plus the corners of a regular simplex of the right size, in new coordinates.

    The corners e_i - (1/n) sum_k e_k are all equally far from each other and from their mean; their scatter is n - 1.
    """
    means = means[:, np.abs(means).max(axis=0) > NEGLIGIBLE] if means.size else means
    widths = {
        name: size if size > 1 and scatters[index] > NEGLIGIBLE else 0
        for index, (name, size) in enumerate((name, roles.size(name)) for name in roles.names)
    }
    result: dict[str, list[list[Fraction]]] = {}
    before, total = 0, sum(widths.values())
    for index, name in enumerate(roles.names):
        mean = [_round(value, bits) for value in means[index]]
        size, width = roles.size(name), widths[name]
        scale = _round(math.sqrt(scatters[index] / (size - 1)), bits) if width else Fraction(0)
        result[name] = []
        for member in range(size):
            simplex = [Fraction(0)] * total
            for k in range(width):
                simplex[before + k] = scale * (Fraction(int(k == member)) - Fraction(1, width))
            result[name].append(mean + simplex)
        before += width
    return result


def _round(value: float, bits: int) -> Fraction:
    return Fraction(round(value * 2**bits), 2**bits)
