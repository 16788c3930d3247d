"""The winsorised mean."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Traits
from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.rules.recipe.rule import RecipeBased


@dataclass(frozen=True)
class WinsorisedMean(RecipeBased):
    """Per coordinate, the mean after the f smallest and the f largest values are moved to the nearest other one.

    Definition (Tukey 1962): the f smallest become the (f + 1)-th, the f largest the (n - f)-th value.
    Ties do not matter. Needs f < n/2. Coefficient: none is claimed here.
    """

    f: int
    name: ClassVar[str] = "winsorised"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "winsorised: f")

    def recipe(self, n: int) -> Recipe:
        """Weights on the middle values, more on the outermost of them."""
        require_minority(self.name, n, self.f)
        weights = [Fraction(int(self.f <= place < n - self.f), n) for place in range(n)]
        weights[self.f] += Fraction(self.f, n)
        weights[n - 1 - self.f] += Fraction(self.f, n)
        return Recipe(n, OrderStatistics(tuple(weights)))
