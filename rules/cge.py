"""CGE: comparative gradient elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, is_exact
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import smallest
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class ComparativeElimination(Rule):
    """The mean of the n - f vectors with the smallest norms.

    Definition (Gupta, Liu and Vaidya 2021, there the sum instead of the mean). Ties: the lower index. Needs f < n/2.
    Depends on the origin: if all honest vectors are one vector v and a Byzantine one is 0, the output is not v, so
    kappa* is infinite for f >= 1. What the authors prove is about descent on costs whose minimisers are redundant (any
    n - 2f of them have those of all), where honest gradients vanish together, and is no claim of (f, kappa)-robustness.
    """

    f: int
    name: ClassVar[str] = "cge"
    _traits: ClassVar[Traits] = Traits(translates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "cge: f")

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the shortest vectors."""
        require_minority(self.name, cloud.n, self.f)
        points = cloud.points
        norms = (points * points).sum(axis=-1) if is_exact(points) else cloud.lengths
        kept = cloud.n - self.f
        return cloud.combine(uniform(smallest(norms, kept), kept, norms))
