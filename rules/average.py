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
from kappaguard.rules.arrays import Array, device_of, is_exact, namespace
from kappaguard.rules.base import Rule
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class Average(Rule):
    """The mean of all n vectors.

    Definition: (1/n) sum_i x_i. Infinite entries stay infinite: there is nothing that an average can discard.
    Coefficient: none for f >= 1 (kappa* is infinite).
    """

    name: ClassVar[str] = "average"

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the points."""
        n = cloud.n
        if cloud.mixing is None and native.applies(cloud.base):
            with np.errstate(over="ignore", invalid="ignore"):
                mean = _uniform(n, cloud.base.dtype).dot(cloud.base)
                # NaN and infinity show in the result: the input is looked at only if there is one
                if math.isfinite(mean.dot(mean)):
                    return mean
        if is_exact(cloud.base):
            return cloud.combine(np.full(n, Fraction(1, n), dtype=object))
        xp = namespace(cloud.base)
        return cloud.combine(xp.full(n, 1.0 / n, dtype=xp.float64, device=device_of(cloud.base)))


@lru_cache(maxsize=64)
def _uniform(n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.full(n, 1.0 / n, dtype=dtype)
