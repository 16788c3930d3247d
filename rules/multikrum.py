"""MultiKrum: the mean of the vectors with the best Krum scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.arrays import Array
from kappaguard.rules.base import Rule
from kappaguard.rules.checks import require_count, require_minority
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.errors import InputError
from kappaguard.rules.krum import scores
from kappaguard.rules.ordering import smallest
from kappaguard.rules.weights import uniform


@dataclass(frozen=True)
class MultiKrum(Rule):
    """The mean of the m vectors with the smallest Krum scores.

    Definition (Blanchard et al. 2017, with the paper's score): the mean of the m vectors whose sums of squared
    distances to their n - f nearest vectors (themselves included) are smallest; m = n - f unless given.
    Ties: the lower index. Needs f < n/2 and m <= n - f.
    Coefficient: the paper states none.
    """

    f: int
    m: int | None = None
    name: ClassVar[str] = "multikrum"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "multikrum: f")
        if self.m is not None:
            require_count(self.m, 1, "multikrum: m")

    def aggregate(self, cloud: Cloud) -> Array:
        """The mean of the m best points."""
        require_minority(self.name, cloud.n, self.f)
        kept = cloud.n - self.f
        m = kept if self.m is None else self.m
        if m > kept:
            raise InputError(f"multikrum needs m <= n - f, got m = {m}, n = {cloud.n} and f = {self.f}")
        distances = cloud.distances
        return cloud.combine(uniform(smallest(scores(distances, kept), m), m, distances))
