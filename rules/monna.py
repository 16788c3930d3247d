"""MoNNA: the mean of the vectors nearest to one trusted vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import smallest
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class MoNNA(Rule):
    """The mean of the n - f vectors nearest to vector number ``index``.

    Definition (Farhadkhani et al. 2023): a worker's own vector is the pivot and counts among its n - f nearest.
    Ties: the lower index. Needs f < n/2. Meant for peers that trust their own vector: as a server's rule the
    adversary may own the pivot, and then kappa* is infinite.
    """

    f: int
    index: int = 0
    name: ClassVar[str] = "monna"
    _traits: ClassVar[Traits] = Traits(symmetric=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "monna: f")
        require_count(self.index, 0, "monna: index")

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the pivot's neighbours."""
        require_minority(self.name, cloud.n, self.f)
        if self.index >= cloud.n:
            raise InputError(f"monna: index must be below n, got index = {self.index} and n = {cloud.n}")
        kept = cloud.n - self.f
        distances = cloud.distances_from(self.index)
        return cloud.combine(uniform(smallest(distances, kept), kept, distances))
