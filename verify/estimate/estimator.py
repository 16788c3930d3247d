"""Running maximum and quantiles of a stream of ratios, in bounded memory, with intervals that assume no distribution.

Every ratio is a lower bound on kappa*; their distribution says what happens, not what can happen. Whoever wants the
worst case must search for it.

Two quantities are easily confused. The ratio error^2/variance estimates kappa. The paper's experiments plot
kappa-hat_t, defined by (equation of kappa-hat, with its square)

    kappa-hat_t^2 = ||R_t - mean m_t||^2 / ( (1/|H|) sum over H of ||m_t^(i) - mean m_t||^2 ),

so kappa-hat is the square root of the ratio: it is compared with sqrt(kappa), not with kappa. An ``Estimator`` holds
ratios; ``Summary.root`` turns what it says into statements about kappa-hat, which is monotone in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError

CAPACITY = 10_000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A confidence interval [low, high]; high is infinite, and low 0, where the data say nothing."""

    low: float
    high: float
    confidence: float


@dataclass(frozen=True)
class Summary:
    """What a stream of ratios showed: count, largest, a quantile with its confidence interval."""

    count: int
    maximum: float
    level: float
    quantile: float
    interval: Interval
    exceedance: float
    exact: bool

    @property
    def root(self) -> Summary:
        """The same for kappa-hat, the square root of the ratio."""
        low, high = math.sqrt(self.interval.low), math.sqrt(self.interval.high)
        return replace(
            self,
            maximum=math.sqrt(self.maximum),
            quantile=math.sqrt(self.quantile),
            interval=replace(self.interval, low=low, high=high),
        )


class Estimator:
    """Running maximum and quantiles of a stream of ratios, which may be infinite, in bounded memory.

    Up to ``capacity`` ratios are all kept and quantiles are exact. Beyond, it holds a uniform sample: each ratio gets a
    random key, and those with the smallest keys stay (so that two estimators merge into what one would have been). Keys
    come from (seed, stream): estimators that are to be merged need different streams.
    """

    def __init__(self, capacity: int = CAPACITY, seed: int = 0, stream: int = 0) -> None:
        if capacity < 1 or seed < 0 or stream < 0:
            raise InputError("an estimator needs a capacity >= 1 and a seed and a stream >= 0")
        self.capacity = capacity
        self.seed = seed
        self.streams: frozenset[int] = frozenset({stream})
        self.count = 0
        self.maximum = 0.0
        self.where: int | None = None
        self._generator = np.random.default_rng((seed, stream))
        self._keys: NDArray[np.float64] = np.empty(0)
        self._values: NDArray[np.float64] = np.empty(0)

    def update(self, ratios: Array) -> None:
        """Take in one ratio, or an array of them in order. NaN is refused."""
        values = np.asarray(ratios if not hasattr(ratios, "detach") else ratios.detach().cpu(), dtype=float).ravel()
        if np.any(np.isnan(values)) or np.any(values < 0):
            raise InputError("a ratio must be a number >= 0")
        if not len(values):
            return
        first = int(np.argmax(values))
        if self.where is None or values[first] > self.maximum:
            self.maximum, self.where = float(values[first]), self.count + first
        self.count += len(values)
        self._keep(self._generator.random(len(values)), values)

    def _keep(self, keys: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        self._keys, self._values = np.concatenate([self._keys, keys]), np.concatenate([self._values, values])
        if len(self._keys) > self.capacity:
            smallest = np.argpartition(self._keys, self.capacity - 1)[: self.capacity]
            self._keys, self._values = self._keys[smallest], self._values[smallest]

    def merge(self, other: Estimator) -> Estimator:
        """The estimator of both streams, this one first; both stay as they are."""
        if self.capacity != other.capacity:
            raise InputError(f"estimators of capacities {self.capacity} and {other.capacity} do not merge")
        if self.seed != other.seed or self.streams & other.streams:
            raise InputError("estimators merge if they have the same seed and different streams")
        merged = Estimator(self.capacity, self.seed, min(self.streams | other.streams))
        merged.streams = self.streams | other.streams
        # new keys must not repeat those of either part
        merged._generator = np.random.default_rng((self.seed, *sorted(merged.streams), self.count + other.count))
        merged.count = self.count + other.count
        first = other.where is None or (self.where is not None and self.maximum >= other.maximum)
        merged.maximum = max(self.maximum, other.maximum)
        merged.where = self.where if first or other.where is None else self.count + other.where
        merged._keep(np.concatenate([self._keys, other._keys]), np.concatenate([self._values, other._values]))
        return merged

    @property
    def sample(self) -> NDArray[np.float64]:
        """The ratios that are held, in increasing order: all of them, or a uniform sample."""
        return np.sort(self._values)

    @property
    def exact(self) -> bool:
        """Whether quantiles are those of all ratios, not of a sample."""
        return self.count <= self.capacity

    def quantile(self, level: float) -> float:
        """The smallest ratio that at least a share ``level`` of all (of the sample) do not exceed."""
        ordered = self._ordered(level)
        return float(ordered[max(0, math.ceil(level * len(ordered) - 1e-12) - 1)])

    def interval(self, level: float, confidence: float = CONFIDENCE) -> Interval:
        """A distribution-free confidence interval for the quantile of the distribution behind the stream.

        Between order statistics: if q is the quantile of N independent draws, the number of draws below q is at most
        B and the number up to q at least B for a B of distribution Binomial(N, level), so [X_(l), X_(u)] misses q with
        probability at most P(B < l) + P(B >= u). l and u are the tightest with (1 - confidence)/2 on either side. It
        holds for every distribution, but draws must be independent: the steps of a training run are not.
        """
        ordered = self._ordered(level)
        if not 0 < confidence < 1:
            raise InputError(f"the confidence must be between 0 and 1, got {confidence}")
        from scipy.stats import binom

        size, tail = len(ordered), (1 - confidence) / 2
        # the largest l with P(B <= l - 1) <= tail, the smallest u with P(B >= u) <= tail
        below = int(binom.ppf(tail, size, level))
        below = below if binom.cdf(below - 1, size, level) <= tail else below - 1
        above = int(binom.isf(tail, size, level)) + 1
        low = float(ordered[below - 1]) if below >= 1 else 0.0
        high = float(ordered[above - 1]) if above <= size else math.inf
        return Interval(low, high, confidence)

    def exceedance(self, confidence: float = CONFIDENCE) -> float:
        """With this confidence, a further independent ratio exceeds the maximum with at most this probability.

        If that probability were p or more, N draws would all stay below with probability at most (1 - p)^N; for 95%
        it is about 3/N.
        """
        if not 0 < confidence < 1:
            raise InputError(f"the confidence must be between 0 and 1, got {confidence}")
        return float(-math.expm1(math.log1p(-confidence) / self.count)) if self.count else 1.0

    def summary(self, level: float = 0.95, confidence: float = CONFIDENCE) -> Summary:
        """Count, mean, largest and quantiles, all at once."""
        return Summary(
            self.count,
            self.maximum,
            level,
            self.quantile(level),
            self.interval(level, confidence),
            self.exceedance(confidence),
            self.exact,
        )

    def to_json(self) -> dict[str, Any]:
        """All that a later merge needs, as JSON can hold it; what it saw stays, what it would draw next does not."""
        return {
            "capacity": self.capacity,
            "seed": self.seed,
            "streams": sorted(self.streams),
            "count": self.count,
            "maximum": _number(self.maximum),
            "where": self.where,
            "keys": self._keys.tolist(),
            "values": [_number(value) for value in self._values.tolist()],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Estimator:
        """The estimator that ``to_json`` wrote, to be merged or asked."""
        found = cls(data["capacity"], data["seed"], min(data["streams"]))
        found.streams = frozenset(data["streams"])
        found._generator = np.random.default_rng((found.seed, *sorted(found.streams), data["count"]))
        found.count, found.where = data["count"], data["where"]
        found.maximum = float(data["maximum"])
        found._keep(np.array(data["keys"], dtype=float), np.array([float(value) for value in data["values"]]))
        return found

    def _ordered(self, level: float) -> NDArray[np.float64]:
        if not 0 <= level <= 1:
            raise InputError(f"the level of a quantile must be between 0 and 1, got {level}")
        if not len(self._values):
            raise InputError("no ratio has been seen yet")
        return self.sample


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"
