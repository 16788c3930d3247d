"""Medoid: the input with the smallest sum of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.rules.base.checks import require_inexact
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import order


@dataclass(frozen=True)
class Medoid(Rule):
    """The input vector with the smallest sum of distances to all.

    Definition (Kaufman and Rousseeuw 1987): x_k with k = argmin_i sum_j ||x_i - x_j||, the geometric median restricted
    to the inputs. The distances are not squared: with squares it would be the input nearest to the mean, which one
    Byzantine vector decides. Ties: the lower index; on a line with even n the two middle inputs always tie. A vector
    with infinite entries is never chosen while fewer than half are such.
    Coefficient: none is claimed here.
    """

    name: ClassVar[str] = "medoid"
    _traits: ClassVar[Traits] = Traits(rational=False)

    def aggregate(self, cloud: Cloud) -> Array:
        """The point with the smallest sum."""
        require_inexact(self.name, cloud.base)
        distances = cloud.distances
        xp = namespace(distances)
        infinite = xp.isinf(distances)
        unseen = xp.sum(xp.astype(infinite, xp.int64), axis=-1)
        # as vectors move away to infinity, whoever is far from fewer of them has the smaller sum
        finite = xp.where(infinite, xp.zeros_like(distances), distances)
        total = xp.sum(xp.sqrt(finite), axis=-1)
        least = xp.min(unseen, axis=-1, keepdims=True)
        total = xp.where(unseen == least, total, xp.full_like(total, float("inf")))
        return cloud.select(order(total)[..., 0])
