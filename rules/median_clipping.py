"""Norm clipping to the median norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.rules.base.checks import require_inexact
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.clip import clip
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class MedianClipping(Rule):
    """The mean of the vectors, each scaled down to the median of their norms.

    Definition: (1/n) sum_i x_i min(1, m/||x_i||), m the median of the norms; even n: the mean of the two middle ones.
    The norm clipping of Sun et al. 2019 with the adaptive length of Nguyen et al. 2022 (FLAME, which also clusters and
    adds noise). Ties do not matter. Scale- but not translation-equivariant: if all honest vectors are one vector v and
    a Byzantine one is -v, the output is shorter than v, so kappa* is infinite for f >= 1.
    """

    name: ClassVar[str] = "median_clipping"
    _traits: ClassVar[Traits] = Traits(rational=False, translates=False)

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the clipped points."""
        require_inexact(self.name, cloud.base)
        points, norms = cloud.points, cloud.lengths
        xp = namespace(norms)
        values = xp.sort(norms, axis=-1)
        low, high = values[..., (cloud.n - 1) // 2], values[..., cloud.n // 2]
        limit = xp.where(low == high, low, low / 2 + high / 2)
        return xp.mean(clip(points, norms, limit[..., None]), axis=-2)
