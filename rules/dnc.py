"""DnC: the vectors that stand out most along the direction of largest variance go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.rules.base.checks import require_count, require_inexact, require_minority
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import smallest
from kappaguard.rules.spectral import finite_weights, principal
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class DivideAndConquer(Rule):
    """The mean of the n - f vectors with the smallest projections on the direction of largest variance.

    Definition (Shejwalkar and Houmansadr 2021), made deterministic: one round on all coordinates instead of several on
    random ones, and filter fraction 1. The score of x_i is the squared projection of x_i - mean on the first right
    singular vector of the centred inputs; the f largest scores go. Vectors with infinite entries go first. Ties: the
    lower index stays. Needs f < n/2. Where the largest singular value is not simple, the direction is the solver's
    choice. The authors claim bounded error under assumptions on the honest variance, and no coefficient in n and f.
    kappa* is infinite for f >= 2: let all honest vectors be 0, one Byzantine vector R e_1 and the others
    (R/n, 1, 0, ...). For large R the direction comes near e_1; there the honest scores come near (m R/n)^2 and those of
    the others near ((1 - m) R/n)^2, m = 1 + (f - 1)/n being n/R times the mean's first coordinate. Since m > 1/2 the
    others stay, and the output is not 0.
    """

    f: int
    name: ClassVar[str] = "dnc"
    _traits: ClassVar[Traits] = Traits(rational=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "dnc: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of what does not stand out."""
        require_inexact(self.name, cloud.base)
        require_minority(self.name, cloud.n, self.f)
        distances, weights = finite_weights(cloud)
        xp = namespace(distances)
        _, _, scores = principal(distances, weights)
        scores = xp.where(weights > 0, scores, xp.full_like(scores, float("inf")))
        kept = cloud.n - self.f
        return cloud.combine(uniform(smallest(scores, kept), kept, scores))
