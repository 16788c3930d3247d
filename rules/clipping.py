"""Clipping: every vector scaled down to a fixed length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_inexact, require_positive
from kappaguard.rules.base.rule import PreAggregation, Traits
from kappaguard.rules.clip import clip
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class Clipping(PreAggregation):
    """Every vector longer than c scaled down to length c.

    Definition: y_i = x_i min(1, c/||x_i||). A fixed c is neither translation- nor scale-equivariant, and in front
    of a robust rule it destroys (f, kappa)-robustness: equal honest vectors longer than c have no variance, yet
    they move.
    """

    c: float = 2.0
    name: ClassVar[str] = "clipping"
    _traits: ClassVar[Traits] = Traits(rational=False, translates=False, scales=False)

    def __post_init__(self) -> None:
        require_positive(self.c, "clipping: c")

    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud of clipped points."""
        require_inexact(self.name, cloud.base)
        return cloud.replaced(clip(cloud.points, cloud.lengths, self.c))
