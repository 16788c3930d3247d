"""MultiKrum: the mean of the vectors with the best Krum scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.krum import others, scores
from kappaguard.rules.ordering import smallest
from kappaguard.rules.recipe.numbers import counted, require_number
from kappaguard.rules.recipe.recipe import NearestSum, Recipe, Round, Rounds
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class MultiKrum(Rule):
    """The mean of the vectors with the smallest Krum scores.

    Definition (Blanchard et al. 2017, with the paper's score): the mean of the ``select`` vectors whose sums of squared
    distances to their n - f nearest vectors (themselves included) are smallest; n - f unless given. Both numbers may be
    arithmetic in n and f, see ``Krum``. Ties: the lower index. Needs f < n/2 and select <= n - f.
    Coefficient: the paper states none.
    """

    f: int
    select: int | str | None = None
    neighbours: int | str | None = None
    name: ClassVar[str] = "multikrum"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "multikrum: f")
        require_number(self.select, 1, "multikrum: select")
        require_number(self.neighbours, 0, "multikrum: neighbours")

    def selected(self, n: int) -> int:
        """How many of n vectors are averaged."""
        require_minority(self.name, n, self.f)
        most = n - self.f
        select = counted(self.select, most, n, self.f, "multikrum: select")
        if not 1 <= select <= most:
            raise InputError(f"multikrum needs 1 <= select <= n - f, got select = {select}, n = {n} and f = {self.f}")
        return select

    def recipe(self, n: int) -> Recipe:
        """One round that keeps the vectors with the least scores."""
        return Recipe(n, Rounds((Round(NearestSum(others(self, n)), self.selected(n)),)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the m best points."""
        select = self.selected(cloud.n)
        distances = cloud.distances
        return cloud.combine(uniform(smallest(scores(distances, others(self, cloud.n) + 1), select), select, distances))
