"""Coordinate-wise rules under attack: many eta at once on a sample of the coordinates.

A coordinate-wise rule takes every column by itself, so the columns of K values of eta, side by side, are one wide
matrix that the rule aggregates in one call. A sample of columns stands for all: column j is drawn in proportion to the
variance of its honest values (the error in it is at most a constant times its variance), by systematic sampling, and
weighted with the inverse. NNM and Bucketing in front are matrices that mix the rows; they follow from distances alone,
see ``kappaguard.search.attacks.reduced``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, device_of, namespace, to_numpy
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.cwmed import Median
from kappaguard.rules.cwtm import TrimmedMean
from kappaguard.rules.meamed import MeanAroundMedian
from kappaguard.rules.nnm import NNM
from kappaguard.rules.pipeline import Chain
from kappaguard.search.attacks.deviation import variance
from kappaguard.search.attacks.reduced import Reduced

SAMPLED = 768
"""How many columns stand for all; up to twice as many are taken whole."""
ENTRIES = 1 << 22
"""How many numbers are held at once."""
EVEN = 0.1
"""This part of the sample is drawn from all columns alike."""


def applies(rule: Rule) -> bool:
    """Whether the rule is a coordinate-wise one, alone or behind NNM or Bucketing."""
    return isinstance(rule.last, Median | TrimmedMean | MeanAroundMedian) and all(
        isinstance(step, NNM | Bucketing) for step in rule.front
    )


@dataclass(frozen=True)
class Columns:
    """Sampled columns relative to the honest mean: of the honest vectors (m, s) and the direction (s,).

    ``weights`` are the numbers of columns that each of them stands for.
    """

    honest: NDArray[Any]
    direction: NDArray[Any]
    weights: NDArray[np.float64]
    whole: bool

    def squares(self, rule: Rule, etas: NDArray[np.float64], f: int, reduced: Reduced) -> NDArray[np.float64]:
        """||F(x) - mean||^2 for every eta, estimated if the columns are a sample."""
        m, width = self.honest.shape
        step = max(1, ENTRIES // ((m + f) * width))
        parts = [self._some(rule, etas[start : start + step], f, reduced) for start in range(0, len(etas), step)]
        return np.concatenate(parts)

    def _some(self, rule: Rule, etas: NDArray[np.float64], f: int, reduced: Reduced) -> NDArray[np.float64]:
        m, width = self.honest.shape
        count = len(etas)
        values = np.empty((m + f, count, width), dtype=self.honest.dtype)
        values[:m] = self.honest[:, None, :]
        values[m:] = (etas[:, None] * self.direction).astype(self.honest.dtype)
        if rule.front:
            mixing = np.asarray(Chain(rule.front).transform(reduced.clouds(etas, f)).mixing)
            mixing = np.broadcast_to(mixing, (count, *mixing.shape[-2:])).astype(values.dtype)
            together = mixing[:, :, :m] @ self.honest
            together += mixing[:, :, m:].sum(axis=-1, keepdims=True) * values[m][:, None, :] if f else 0
            values = np.ascontiguousarray(together.transpose(1, 0, 2))
        output = rule.last(values.reshape(len(values), count * width)).reshape(count, width).astype(np.float64)
        squares: NDArray[np.float64] = output**2 @ self.weights
        return squares


def sample(honest: Array, mean: Array, direction: Array, size: int = SAMPLED) -> Columns:
    """The columns of the vectors that stand for all of them."""
    d = honest.shape[1]
    if d <= 2 * size:
        return Columns(
            to_numpy(honest) - to_numpy(mean), np.array(to_numpy(direction)), np.ones(d, dtype=np.float64), True
        )
    xp = namespace(honest)
    spread = to_numpy(variance(honest, mean)).astype(np.float64)
    total = float(np.sum(spread))
    chance = EVEN / d + (1 - EVEN) * (spread / total if total > 0 else 1 / d)
    edges = np.cumsum(chance)
    picked = np.searchsorted(edges, (np.arange(size) + 0.5) / size * edges[-1]).clip(0, d - 1)
    index, times = np.unique(picked, return_counts=True)
    weights = times * edges[-1] / (size * chance[index])
    where = index if isinstance(honest, np.ndarray) else xp.asarray(index, device=device_of(honest))
    chosen = to_numpy(honest[:, where]) - to_numpy(mean[where])
    return Columns(np.ascontiguousarray(chosen), np.array(to_numpy(direction[where])), weights, False)
