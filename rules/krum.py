"""Krum: the vector that is nearest to its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.arrays import Array, namespace
from kappaguard.rules.base import Coefficient, Rule
from kappaguard.rules.checks import require_count, require_minority
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import order


@dataclass(frozen=True)
class Krum(Rule):
    """The input vector with the smallest sum of squared distances to its n - f nearest vectors.

    Definition (paper, appendix on Krum): x_k with k in argmin_j sum over the n - f nearest neighbours i of x_j of
    ||x_j - x_i||^2. The vector itself counts among its n - f nearest; the original Krum of Blanchard et al. 2017
    discards one vector more.
    Ties: the lower index. Needs f < n/2.
    Coefficient: 6 (1 + f/(n - 2f)), paper, proposition on Krum.
    """

    f: int
    name: ClassVar[str] = "krum"
    coefficient: ClassVar[Coefficient | None] = Coefficient("6*(1+f/(n-2*f))", "Fixing by Mixing, Krum")

    def __post_init__(self) -> None:
        require_count(self.f, 0, "krum: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The point with the smallest score."""
        require_minority(self.name, cloud.n, self.f)
        return cloud.select(order(scores(cloud.distances, cloud.n - self.f))[..., 0])


def scores(distances: Array, count: int) -> Array:
    """Per vector, the sum of its ``count`` smallest squared distances, its own zero included."""
    xp = namespace(distances)
    return xp.sum(xp.sort(distances, axis=-1)[..., :count], axis=-1)
