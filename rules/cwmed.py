"""CWMed: the coordinate-wise median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.rule import Coefficient, Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.coordinates import window_mean
from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.rules.recipe.weights import median


@dataclass(frozen=True)
class Median(Rule):
    """Per coordinate, the median.

    Definition (paper, equation of CWMed). Even n: the mean of the two middle values. Ties do not matter.
    Coefficient: 4 (1 + f/(n - 2f))^2, paper, proposition on CWMed.
    """

    name: ClassVar[str] = "cwmed"
    coefficient: ClassVar[Coefficient] = Coefficient("4*(1+f/(n-2*f))**2", "Fixing by Mixing, CWMed")
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def recipe(self, n: int) -> Recipe:
        """The middle value, or the mean of the two middle ones."""
        return Recipe(n, OrderStatistics(median(n)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The median of the points."""
        return window_mean(cloud.points, (cloud.n - 1) // 2, cloud.n // 2 + 1)
