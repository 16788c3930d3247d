"""Aksel: the mean of the vectors nearest to the coordinate-wise median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Traits
from kappaguard.rules.recipe.recipe import NearVector, Recipe
from kappaguard.rules.recipe.rule import RecipeBased
from kappaguard.rules.recipe.weights import median


@dataclass(frozen=True)
class Aksel(RecipeBased):
    """The mean of the ceil(n/2) vectors nearest to the coordinate-wise median.

    Definition (Boussetta et al. 2020; number and squared distances as in the code of its authors, mode "mid" of
    LPD-EPFL/ByzantineMomentum): ``count`` vectors if that is given. Even n: the median of a coordinate is the mean of
    the two middle values (theirs: the lower one). Ties: the lower index. Which vectors are near depends on the axes.
    Coefficient: none is claimed here; kappa* follows from the recipe.
    """

    count: int | None = None
    name: ClassVar[str] = "aksel"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        if self.count is not None:
            require_count(self.count, 1, "aksel: count")

    def recipe(self, n: int) -> Recipe:
        """The vectors nearest to the median."""
        count = (n + 1) // 2 if self.count is None else self.count
        if count > n:
            raise InputError(f"aksel: count must be at most n, got count = {count} and n = {n}")
        return Recipe(n, NearVector(median(n), count))
