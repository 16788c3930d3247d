"""Average: not robust to a single Byzantine vector, the baseline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, device_of, enter, is_exact, namespace
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import Cloud

_DOUBLE = np.dtype(np.float64)
LONG = 100_000
"""From this many coordinates on, all threads of the linear-algebra library are quicker than one pass that also looks
for NaN and infinity."""


@dataclass(frozen=True)
class Average(Rule):
    """The mean of all n vectors.

    Definition: (1/n) sum_i x_i. Infinite entries stay infinite: there is nothing that an average can discard.
    Coefficient: none for f >= 1 (kappa* is infinite).
    """

    name: ClassVar[str] = "average"

    def __call__(self, x: Array) -> Array:
        """The mean of x, of shape (..., n, d) -> (..., d)."""
        array, back = enter(x)
        if native.applies(array):
            mean, finite = _mean(array)
            if finite:
                return back(mean)
        return back(self.aggregate(Cloud(array)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the points."""
        return cloud.combine(_weights(cloud))


def _mean(x: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """The mean of the rows, and whether it is finite."""
    n, d = x.shape
    if d < LONG:
        return native.combine(_uniform(n, _DOUBLE), x)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _uniform(n, x.dtype).dot(x)
        return mean, math.isfinite(mean.dot(mean))


def _weights(cloud: Cloud) -> Array:
    n = cloud.n
    if is_exact(cloud.base):
        return np.full(n, Fraction(1, n), dtype=object)
    if isinstance(cloud.base, np.ndarray):
        return _uniform(n, _DOUBLE)
    xp = namespace(cloud.base)
    return xp.full(n, 1.0 / n, dtype=xp.float64, device=device_of(cloud.base))


@lru_cache(maxsize=64)
def _uniform(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    weights = np.full(n, 1.0 / n, dtype=dtype)
    weights.setflags(write=False)
    return weights
