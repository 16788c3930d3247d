"""ALIE: a little is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.search.attacks.deviation import variance
from kappaguard.search.attacks.directed import Directed


@dataclass(frozen=True)
class LittleIsEnough(Directed):
    """All Byzantine workers send mean + eta sigma, sigma being the coordinate-wise standard deviation of the honest
    vectors, with divisor m - 1 (paper; Baruch et al. 2019). A single honest vector has none.
    """

    name: ClassVar[str] = "alie"
    deviation: ClassVar[bool | None] = True

    def direction(self, honest: Array, mean: Array) -> Array:
        """The coordinate-wise standard deviation."""
        xp = namespace(honest)
        if honest.shape[0] < 2:
            return xp.zeros_like(mean)
        return (variance(honest, mean) * (honest.shape[0] / (honest.shape[0] - 1))) ** 0.5
