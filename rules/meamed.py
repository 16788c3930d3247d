"""MeaMed: the mean around the median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.coordinates import mean_around_median
from kappaguard.rules.recipe.recipe import NearCentre, Recipe
from kappaguard.rules.recipe.weights import median


@dataclass(frozen=True)
class MeanAroundMedian(Rule):
    """Per coordinate, the mean of the n - f values nearest to the median.

    Definition (Xie et al. 2018). Even n: the median is the mean of the two middle values. Ties: of two values that
    are equally far from the median (up to its rounding), the smaller one is kept. Needs f < n/2.
    Coefficient: the paper states none.
    """

    f: int
    name: ClassVar[str] = "meamed"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "meamed: f")

    def recipe(self, n: int) -> Recipe:
        """The n - f values nearest to the median."""
        require_minority(self.name, n, self.f)
        return Recipe(n, NearCentre(median(n), n - self.f))

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean around the median of the points."""
        require_minority(self.name, cloud.n, self.f)
        return mean_around_median(cloud.points, cloud.n - self.f)
