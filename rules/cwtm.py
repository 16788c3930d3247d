"""CWTM: the coordinate-wise trimmed mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Coefficient, Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.coordinates import window_mean
from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.rules.recipe.weights import equal


@dataclass(frozen=True)
class TrimmedMean(Rule):
    """Per coordinate, the mean of the n - 2f values that remain without the f smallest and the f largest.

    Definition (paper, equation of CWTM): (1/(n - 2f)) sum of the sorted values f + 1 .. n - f.
    Ties do not matter: equal values are interchangeable. Needs f < n/2.
    Coefficient: 6 f/(n - 2f) (1 + f/(n - 2f)), paper, proposition on CWTM.
    """

    f: int
    name: ClassVar[str] = "cwtm"
    coefficient: ClassVar[Coefficient] = Coefficient("6*f/(n-2*f)*(1+f/(n-2*f))", "Fixing by Mixing, CWTM")
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "cwtm: f")

    def recipe(self, n: int) -> Recipe:
        """The same weight on all but the f smallest and the f largest values."""
        require_minority(self.name, n, self.f)
        return Recipe(n, OrderStatistics(equal(n, self.f, n - self.f)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The trimmed mean of the points."""
        require_minority(self.name, cloud.n, self.f)
        return window_mean(cloud.points, self.f, cloud.n - self.f)
