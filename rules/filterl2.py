"""FilterL2: weights fall along the direction of largest variance until that is small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, bounded, namespace
from kappaguard.rules.base.checks import require_inexact, require_positive
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.smoothed import unit_of
from kappaguard.rules.spectral import finite_weights, principal


@dataclass(frozen=True)
class SpectralFilter(Rule):
    """The weighted mean after filtering along the direction of largest variance until that is at most ``limit``.

    Definition (Diakonikolas et al. 2017; Steinhardt 2018): weights start at 1; while the largest eigenvalue of the
    weighted covariance exceeds ``limit``, multiply each weight by 1 - tau_i/max tau, tau_i being the squared projection
    of x_i - mean on its eigenvector, the maximum over vectors that have weight. The output is the weighted mean. Every
    step leaves a vector less, so it ends; it also ends before a step that would leave none. Vectors with infinite
    entries start with weight 0.
    ``limit`` is the authors' 20 sigma^2 for honest vectors of variance at most sigma^2 = 1 in every direction, and has
    to be known: caf is the same filter without it. With a fixed one it has a scale of its own, and no kappa holds.
    Where the largest eigenvalue is not simple, the direction is the eigenvalue solver's choice.
    """

    limit: float = 20.0
    name: ClassVar[str] = "filterl2"
    _traits: ClassVar[Traits] = Traits(rational=False, scales=False)

    def __post_init__(self) -> None:
        require_positive(self.limit, "filterl2: limit")

    def aggregate(self, cloud: Cloud) -> Array:
        """The weighted mean that is left."""
        require_inexact(self.name, cloud.base)
        distances, weights = finite_weights(cloud)
        xp = namespace(distances)
        unit = unit_of(cloud, distances)
        for _ in range(cloud.n):
            _, spread, projection = principal(distances, weights)
            going = spread * unit > self.limit
            if not bool(xp.any(going)):
                break
            most = xp.max(projection, axis=-1, keepdims=True)
            left = bounded(1 - projection / xp.where(most > 0, most, xp.ones_like(most)), 0.0, None)
            following = weights * left
            # of weights on both ends of a line that are equal none would be left
            going = going & (xp.sum(following, axis=-1) > 0)
            weights = xp.where(going[..., None], following, weights)
        return cloud.combine(weights / xp.sum(weights, axis=-1, keepdims=True))
