"""NNA: the mean of the vectors nearest to one that can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Traits
from kappaguard.rules.recipe.recipe import PivotDistance, Recipe, Round, Rounds
from kappaguard.rules.recipe.rule import RecipeBased


@dataclass(frozen=True)
class NearestNeighbourAveraging(RecipeBased):
    """The mean of the n - f vectors nearest to vector number ``pivot``, which is not the adversary's.

    Definition (Farhadkhani et al. 2023): a worker's own vector is the pivot and counts among its n - f nearest.
    Ties: the lower index. Needs f < n/2. Its kappa* is over the sets S that contain the pivot; ``monna`` is the same
    function without that trust, and its kappa* is infinite.
    """

    f: int
    pivot: int = 0
    name: ClassVar[str] = "nna"
    _traits: ClassVar[Traits] = Traits(symmetric=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "nna: f")
        require_count(self.pivot, 0, "nna: pivot")

    @property
    def trusted(self) -> int:
        """The pivot: a server's own vector, which no adversary has sent."""
        return self.pivot

    def recipe(self, n: int) -> Recipe:
        """One round that keeps the nearest to the pivot."""
        require_minority(self.name, n, self.f)
        if self.pivot >= n:
            raise InputError(f"nna: pivot must be below n, got pivot = {self.pivot} and n = {n}")
        return Recipe(n, Rounds((Round(PivotDistance(self.pivot), n - self.f),)), trusted=self.pivot)
