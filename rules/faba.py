"""FABA: f times, the vector farthest from the mean goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.recipe.recipe import MeanDistance, OrderStatistics, Recipe, Round, Rounds
from kappaguard.rules.recipe.rule import RecipeBased
from kappaguard.rules.recipe.weights import equal


@dataclass(frozen=True)
class IterativeFilter(RecipeBased):
    """The mean of what is left after f times dropping the vector farthest from the mean of those that are left.

    Definition (Xia et al. 2019). Ties: the lower index is dropped. Needs f < n/2.
    Coefficient: none is claimed here.
    """

    f: int
    name: ClassVar[str] = "faba"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "faba: f")

    def recipe(self, n: int) -> Recipe:
        """f rounds that drop one vector each."""
        require_minority(self.name, n, self.f)
        if not self.f:
            return Recipe(n, OrderStatistics(equal(n, 0, n)))
        return Recipe(n, Rounds((Round(MeanDistance(), 1, greatest=True, keep=False),) * self.f))
