"""What a stream showed of a rule: one object for the command, the API, the report and the dossier."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kappaguard.verify.estimate.effect import Effect, sharp
from kappaguard.verify.estimate.estimator import Estimator, Interval
from kappaguard.verify.estimate.worst_case import WorstCase

MEDIAN, HIGH = 0.5, 0.95
BINS_PER_DECADE = 20


@dataclass(frozen=True)
class Estimate:
    """The distribution of a rule's ratio under one attack, beside its worst case.

    ``subsets`` says which S the ratios are of: the ``known`` honest set, or the worst one, found by ``enumeration`` or
    by a ``heuristic``, which may miss it. ``where`` is the round of the largest ratio; ``witness`` the file in which
    its input is kept, if it was.
    """

    rule: str
    n: int
    f: int
    attack: str
    source: str
    criterion: str
    seed: int
    subsets: str
    independent: bool
    ratios: Estimator
    worst_case: WorstCase = field(default_factory=WorstCase)
    effect: Effect | None = None
    plain: str | None = None
    """The rule without mixing, which ``effect`` compares with."""
    mixer: str | None = None
    plain_largest: float | None = None
    witness: str | None = None
    kept: Any = field(default=None, compare=False, repr=False)
    """The input with the largest ratio and its S, if the stream could not be asked for it again."""

    @property
    def count(self) -> int:
        """How many rounds were seen."""
        return self.ratios.count

    @property
    def largest(self) -> float:
        """The largest ratio: a lower bound on kappa*, if the criterion is the trace."""
        return self.ratios.maximum

    @property
    def where(self) -> int | None:
        """The number of the round with the largest ratio."""
        return self.ratios.where

    @property
    def median(self) -> float:
        """Half of the ratios are no larger."""
        return self.ratios.quantile(MEDIAN)

    @property
    def high(self) -> float:
        """The 95 % quantile."""
        return self.ratios.quantile(HIGH)

    def interval(self, level: float = HIGH, confidence: float = 0.95) -> Interval:
        """A distribution-free confidence interval of a quantile, if rounds are independent."""
        return self.ratios.interval(level, confidence)

    @property
    def exceedance(self) -> float:
        """With 95 % confidence, a further independent round exceeds the largest ratio with at most this probability."""
        return self.ratios.exceedance()

    @property
    def width(self) -> float:
        """The width of the 95 % quantile's interval, relative to the quantile: what --until-width looks at."""
        found = self.interval()
        return 0.0 if found.high == found.low else (found.high - found.low) / self.high if self.high else math.inf

    def to_json(self) -> dict[str, Any]:
        """Everything, as strict JSON can hold it."""
        low, high = self.worst_case.reach(self.largest) if self.criterion == "trace" else (None, None)
        of_coefficient = self.worst_case.reach_of_coefficient(self.largest) if self.criterion == "trace" else None
        found = {
            "rule": self.rule,
            "n": self.n,
            "f": self.f,
            "attack": self.attack,
            "source": self.source,
            "criterion": self.criterion,
            "seed": self.seed,
            "subsets": self.subsets,
            "independent": self.independent,
            "inputs": self.count,
            "largest": number(self.largest),
            "round": self.where,
            "witness": self.witness,
            "median": self._quantile(MEDIAN),
            "quantile_95": self._quantile(HIGH),
            "exceedance": self.exceedance,
            "sampled": not self.ratios.exact,
            "lower": number(self.worst_case.lower),
            "upper": number(self.worst_case.upper),
            "coefficient": number(self.worst_case.coefficient),
            "least_possible": self.f / (self.n - 2 * self.f),
            "reach_of_kappa": [number(low), number(high)],
            "reach_of_coefficient": number(of_coefficient),
            "histogram": histogram(self.ratios),
            "mixing": None if self.effect is None else self._mixing(self.effect),
        }
        return found

    def _quantile(self, level: float) -> dict[str, Any]:
        interval = self.interval(level)
        value = self.ratios.quantile(level)
        return {"value": number(value), "low": number(interval.low), "high": number(interval.high)}

    def _mixing(self, effect: Effect) -> dict[str, Any]:
        bound = sharp(self.n, self.f)
        plain = self.plain_largest
        return {
            "by": self.mixer,
            "plain": self.plain,
            "variance": spoken(effect.variance),
            "bias": spoken(effect.bias),
            "total": spoken(effect.total),
            "sharp": bound,
            "paper": 2 * bound,
            "crossed": effect.crossed,
            "amplification": spoken(effect.amplification),
            "compared": effect.compared,
            "worse": effect.worse,
            "kappa_bound": None if plain is None else number(bound * (plain + 1)),
            "beyond": effect.beyond,
        }


def spoken(estimator: Estimator) -> dict[str, Any] | None:
    """Median, 95 % quantile and largest of a quantity; None where there was none."""
    if not estimator.count:
        return None
    values = (estimator.quantile(MEDIAN), estimator.quantile(HIGH), estimator.maximum)
    return dict(zip(("median", "quantile_95", "largest"), map(number, values), strict=True))


def number(value: float | None) -> float | str | None:
    """A number for JSON."""
    if value is None or math.isfinite(value):
        return value
    return "inf" if value > 0 else "-inf"


def histogram(estimator: Estimator) -> dict[str, Any]:
    """How many ratios lie where, on a logarithmic scale; zeros and infinite ones are counted apart."""
    sample = estimator.sample
    inside = sample[(sample > 0) & np.isfinite(sample)]
    found: dict[str, Any] = {
        "zero": int(np.sum(sample == 0)),
        "infinite": int(np.sum(np.isinf(sample))),
        "edges": [],
        "counts": [],
    }
    if len(inside):
        low = math.floor(math.log10(inside[0]) * BINS_PER_DECADE)
        high = max(low + 1, math.ceil(math.log10(inside[-1]) * BINS_PER_DECADE))
        # a spread over hundreds of decades is a degenerate input, and not worth more bins
        step = max(1, (high - low) // 400)
        edges = 10.0 ** (np.arange(low, high + step, step) / BINS_PER_DECADE)
        counts, _ = np.histogram(np.clip(inside, edges[0], edges[-1]), edges)
        found |= {"edges": edges.tolist(), "counts": counts.tolist()}
    return found
