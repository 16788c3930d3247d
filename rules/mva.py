"""MVA: the mean of the subset with the smallest variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.recipe.recipe import Recipe, Subset
from kappaguard.rules.recipe.rule import RecipeBased


@dataclass(frozen=True)
class MinimumVarianceAveraging(RecipeBased):
    """The mean of the n - f vectors with the smallest variance.

    Definition (Allouah et al. 2023): over all subsets of n - f vectors, one whose sum of pairwise squared distances is
    smallest. Exact, by branch and bound. Ties: the lexicographically first subset. Needs f < n/2.
    Coefficient: none is claimed here.
    """

    f: int
    name: ClassVar[str] = "mva"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "mva: f")

    def recipe(self, n: int) -> Recipe:
        """The subset of n - f vectors with the least variance."""
        require_minority(self.name, n, self.f)
        return Recipe(n, Subset(n - self.f, "variance"))
