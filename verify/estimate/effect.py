"""What mixing does to an input: the two terms of the lemma on NNM, and of Bucketing the same where it has them.

Let y = W x be the mixed vectors, S the honest set, V the variance of x over S. The lemma speaks of

    variance   (1/|T|) sum over T of ||y_i - mean_T y||^2 / V       and       bias   ||mean_T y - mean_S x||^2 / V,

T being S for NNM: their sum is at most 8f/(n-f) (paper, Lemma 1), and at most 4f/(n-f) (claim bias-variance-sharp).
For Bucketing T is the set of buckets without a Byzantine vector, of which there are at least ceil(n/s) - f; nothing
bounds its terms. Everything follows from the inner products of the x_i - mean_S and from W.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, to_numpy
from kappaguard.rules.base.rule import PreAggregation
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.nnm import NNM
from kappaguard.verify.estimate.estimator import Estimator
from kappaguard.verify.estimate.scene import Scene

Floats = NDArray[np.float64]

MIXERS: dict[str, type[PreAggregation]] = {NNM.name: NNM, Bucketing.name: Bucketing}
KEPT = ("variance", "bias", "total", "amplification")
ROUNDING = 1e-9
"""Relative: by so much more than the lemma allows may be rounding."""


def sharp(n: int, f: int) -> float:
    """The sharp bound 4f/(n-f) of NNM's lemma."""
    return 4 * f / (n - f)


def mixing_of(stage: PreAggregation, x: Array) -> Floats:
    """W for one input (n, d), or for several, (..., b, n)."""
    mixing = stage.transform(Cloud(x)).mixing
    return np.asarray(to_numpy(mixing), dtype=np.float64)


def terms(mixing: Floats, scene: Scene, *, clean: bool) -> tuple[Floats, Floats]:
    """Variance after over before, and bias over variance before, for mixing matrices (b, k, n).

    ``clean`` takes the rows without weight outside S for T, else T is S.
    """
    gram, honest = scene.gram, list(scene.subset)
    before = np.mean(np.diagonal(gram, axis1=-2, axis2=-1)[:, honest], axis=-1)
    after, bias = np.full(len(gram), np.nan), np.full(len(gram), np.nan)
    outside = np.setdiff1d(np.arange(gram.shape[-1]), honest)
    for place, weights in enumerate(mixing):
        rows = weights[~np.any(weights[:, outside] > 0, axis=-1)] if clean else weights[honest]
        if not len(rows) or not before[place] > 0:
            continue
        # a vector that no row mixes in may be infinite
        used = np.flatnonzero(np.any(rows != 0, axis=0))
        rows, inner = rows[:, used], gram[place][np.ix_(used, used)]
        centre = np.mean(rows, axis=0)
        apart = rows - centre
        bias[place] = centre @ inner @ centre / before[place]
        after[place] = np.einsum("ik,kl,il->", apart, inner, apart) / len(rows) / before[place]
    return np.maximum(after, 0.0), np.maximum(bias, 0.0)


@dataclass
class Effect:
    """The paired effect of a pre-aggregation on one rule, over a stream."""

    variance: Estimator
    bias: Estimator
    total: Estimator
    amplification: Estimator
    worse: int = 0
    compared: int = 0
    """Rounds in which both ratios are finite and positive."""
    crossed: int = 0
    """Rounds in which variance + bias exceed 4f/(n-f), which for NNM nothing can."""
    beyond: int = 0
    """Rounds in which the ratio behind mixing exceeds 4f/(n-f) (the ratio without it + 1): that may well be."""
    sizes: tuple[int, int] = field(default=(0, 0))

    @classmethod
    def empty(cls, n: int, f: int, **options: Any) -> Effect:
        """Statistics that have seen nothing yet."""
        variance, bias, total, amplification = (Estimator(**options) for _ in KEPT)
        return cls(variance, bias, total, amplification, sizes=(n, f))

    def update(self, variance: Floats, bias: Floats, plain: Floats, mixed: Floats) -> None:
        """Take in some rounds: the two terms, and the ratios of the rule without and with mixing."""
        known = np.isfinite(variance) & np.isfinite(bias)
        self.variance.update(variance[known])
        self.bias.update(bias[known])
        total = variance[known] + bias[known]
        self.total.update(total)
        bound = sharp(*self.sizes)
        self.crossed += int(np.sum(total > bound * (1 + ROUNDING)))
        both = np.isfinite(plain) & np.isfinite(mixed) & (plain > 0)
        self.amplification.update(mixed[both] / plain[both])
        self.compared += int(np.sum(both))
        self.worse += int(np.sum(mixed[both] > plain[both]))
        self.beyond += int(np.sum(mixed[both] > bound * (plain[both] + 1)))

    def merge(self, other: Effect) -> Effect:
        """Of both streams, this one first."""
        return Effect(
            self.variance.merge(other.variance),
            self.bias.merge(other.bias),
            self.total.merge(other.total),
            self.amplification.merge(other.amplification),
            self.worse + other.worse,
            self.compared + other.compared,
            self.crossed + other.crossed,
            self.beyond + other.beyond,
            self.sizes,
        )

    def to_json(self) -> dict[str, Any]:
        """All that a later merge needs."""
        counts = {name: getattr(self, name) for name in ("worse", "compared", "crossed", "beyond")}
        return {name: getattr(self, name).to_json() for name in KEPT} | counts | {"sizes": list(self.sizes)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Effect:
        """The effect that ``to_json`` wrote."""
        variance, bias, total, amplification = (Estimator.from_json(data[name]) for name in KEPT)
        n, f = data["sizes"]
        return cls(
            variance,
            bias,
            total,
            amplification,
            data["worse"],
            data["compared"],
            data["crossed"],
            data["beyond"],
            (n, f),
        )
