"""NNM: nearest neighbour mixing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.checks import require_count, require_minority
from kappaguard.rules.base.rule import Coefficient, PreAggregation
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.ordering import smallest
from kappaguard.rules.weights import uniform

LEMMA_1 = "8*f/(n-f)*(kappa+1)"
"""The coefficient of F after NNM, if that of F is kappa (paper, Lemma 1)."""


@dataclass(frozen=True)
class NNM(PreAggregation):
    """Every vector replaced by the mean of its n - f nearest vectors.

    Definition (paper, Algorithm 2): y_i is the mean of the n - f vectors nearest to x_i, itself included.
    Ties: the lower index (equal vectors give the same mean, whichever is taken). Needs f < n/2.
    Guarantee (paper, Lemma 1): if F is (f, kappa)-robust, then F after NNM is (f, kappa')-robust with
    kappa' <= 8 f/(n - f) (kappa + 1).
    """

    f: int
    name: ClassVar[str] = "nnm"

    def __post_init__(self) -> None:
        require_count(self.f, 0, "nnm: f")

    def mixing(self, n: int) -> tuple[int, ...]:
        """One layer of n - f nearest."""
        require_minority(self.name, n, self.f)
        return (n - self.f,)

    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud of neighbourhood means."""
        require_minority(self.name, cloud.n, self.f)
        kept = cloud.n - self.f
        distances = cloud.distances
        return cloud.mixed(uniform(smallest(distances, kept), kept, distances))

    def amplify(self, claim: Coefficient | None) -> Coefficient | None:
        """Lemma 1 of the paper."""
        if claim is None:
            return None
        return Coefficient(LEMMA_1.replace("kappa", claim.expression), f"{claim.source}, with Lemma 1 (NNM)")
