"""Krum: the vector that is nearest to its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kappaguard.rules.base.arrays import Array, is_exact, namespace
from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Coefficient, Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import MANY, order
from kappaguard.rules.recipe.numbers import counted, require_number
from kappaguard.rules.recipe.recipe import NearestSum, Recipe, Round, Rounds


@dataclass(frozen=True)
class Krum(Rule):
    """The input vector with the smallest sum of squared distances to its n - f nearest vectors.

    Definition (paper, appendix on Krum): x_k with k in argmin_j sum over the n - f nearest neighbours i of x_j of
    ||x_j - x_i||^2. The vector itself counts among its n - f nearest: n - f - 1 others. ``neighbours`` is another
    number of others, or arithmetic in n and f: "n-f-2" is Krum as Blanchard et al. 2017 and Flower define it.
    Ties: the lower index. Needs f < n/2.
    Coefficient: 6 (1 + f/(n - 2f)), paper, proposition on Krum.
    """

    f: int
    neighbours: int | str | None = None
    name: ClassVar[str] = "krum"
    coefficient: ClassVar[Coefficient] = Coefficient("6*(1+f/(n-2*f))", "Fixing by Mixing, Krum")

    def __post_init__(self) -> None:
        require_count(self.f, 0, "krum: f")
        require_number(self.neighbours, 0, "krum: neighbours")

    @property
    def claim(self) -> Coefficient | None:
        """The paper's, for the paper's number of neighbours."""
        return self.coefficient if self.neighbours is None else None

    def recipe(self, n: int) -> Recipe:
        """One round that keeps the vector with the least score."""
        return Recipe(n, Rounds((Round(NearestSum(others(self, n)), 1),)))

    def aggregate(self, cloud: Cloud) -> Array:
        """The point with the smallest score."""
        return cloud.select(order(scores(cloud.distances, others(self, cloud.n) + 1))[..., 0])


def others(rule: Any, n: int) -> int:
    """How many other vectors count in the scores of a Krum among n."""
    require_minority(rule.name, n, rule.f)
    count = counted(rule.neighbours, n - rule.f - 1, n, rule.f, f"{rule.name}: neighbours")
    if not 0 <= count < n:
        raise InputError(f"{rule.name} has {n - 1} other vectors to count, not {count}")
    return count


def scores(distances: Array, count: int) -> Array:
    """Per vector, the sum of its ``count`` smallest squared distances, its own zero included."""
    if isinstance(distances, np.ndarray) and not is_exact(distances) and MANY <= distances.shape[-1] > count > 0:
        return np.sum(np.partition(distances, count - 1, axis=-1)[..., :count], axis=-1)
    xp = namespace(distances)
    return xp.sum(xp.sort(distances, axis=-1)[..., :count], axis=-1)
