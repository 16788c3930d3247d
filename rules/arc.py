"""ARC: adaptive robust clipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import namespace
from kappaguard.rules.base.checks import require_count, require_inexact, require_minority
from kappaguard.rules.base.rule import PreAggregation, Traits
from kappaguard.rules.clip import clip
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class AdaptiveClipping(PreAggregation):
    """The longest vectors scaled down to the length of the longest one that is left alone.

    Definition (Allouah et al. 2024, arXiv 2405.14432): with k = floor(2 f/n (n - f)), the k longest vectors are
    clipped to the length of the (k + 1)-th longest. Ties do not matter: equal lengths are left as they are.
    Needs f < n/2. Scale- but not translation-equivariant.
    """

    f: int
    name: ClassVar[str] = "arc"
    _traits: ClassVar[Traits] = Traits(rational=False, translates=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "arc: f")

    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud of clipped points."""
        require_inexact(self.name, cloud.base)
        n = cloud.n
        require_minority(self.name, n, self.f)
        norm = cloud.lengths
        clipped = 2 * self.f * (n - self.f) // n
        limit = namespace(norm).sort(norm, axis=-1)[..., n - clipped - 1]
        return cloud.replaced(clip(cloud.points, norm, limit[..., None]))
