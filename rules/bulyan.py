"""Bulyan: several rounds of Krum, then the mean around the median of what they chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.coordinates import mean_around_median
from kappaguard.rules.recipe.recipe import NearestSum, Recipe, Round, Rounds
from kappaguard.rules.recipe.rule import chosen_points


@dataclass(frozen=True)
class Bulyan(Rule):
    """Per coordinate, the mean of the n - 4f values nearest to the median of n - 2f vectors that Krum chose.

    Definition (El Mhamdi et al. 2018): n - 2f times, the vector with the least sum of squared distances to its
    r - f - 2 nearest of the r that are left (at least one) is set aside; of these, per coordinate, the mean of the
    n - 4f values nearest to their median. Ties: the lower index, then the smaller value. Needs n >= 4f + 3.
    Coefficient: none is claimed here.
    """

    f: int
    name: ClassVar[str] = "bulyan"
    _traits: ClassVar[Traits] = Traits(rotates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "bulyan: f")

    def selection(self, n: int) -> Recipe:
        """The first phase, whose output is the mean of what it chose."""
        if n < 4 * self.f + 3:
            raise InputError(f"bulyan needs n >= 4f + 3, got n = {n} and f = {self.f}")
        counts = range(n, 2 * self.f, -1)
        return Recipe(n, Rounds(tuple(Round(NearestSum(max(1, min(r - self.f - 2, r - 1))), 1) for r in counts)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean around the median of the chosen points."""
        points = chosen_points(self.selection(cloud.n), cloud)
        return mean_around_median(points, cloud.n - 4 * self.f)
