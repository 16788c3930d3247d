"""Phocas: the mean around the trimmed mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Traits
from kappaguard.rules.recipe.recipe import NearCentre, Recipe
from kappaguard.rules.recipe.rule import RecipeBased
from kappaguard.rules.recipe.weights import equal


@dataclass(frozen=True)
class Phocas(RecipeBased):
    """Per coordinate, the mean of the n - f values nearest to the trimmed mean.

    Definition (Xie et al. 2018). Ties: of two values that are equally far the smaller one is kept. Needs f < n/2.
    Coefficient: none is claimed here.
    """

    f: int
    name: ClassVar[str] = "phocas"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "phocas: f")

    def recipe(self, n: int) -> Recipe:
        """The values nearest to the mean of the middle ones."""
        require_minority(self.name, n, self.f)
        return Recipe(n, NearCentre(equal(n, self.f, n - self.f), n - self.f))
