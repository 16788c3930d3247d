"""A rule on a shard of the coordinates: distances are summed over the shards, everything else is local."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kappaguard.rules.arc import AdaptiveClipping
from kappaguard.rules.arrays import Array, enter
from kappaguard.rules.base import Rule
from kappaguard.rules.centered_clipping import CenteredClipping
from kappaguard.rules.clipping import Clipping
from kappaguard.rules.cloud import SMALL, Cloud, Step, mixed_distances
from kappaguard.rules.distances import squared_distances
from kappaguard.rules.errors import InputError
from kappaguard.rules.gm import GeometricMedian
from kappaguard.rules.pipeline import Chain, Pipeline
from kappaguard.rules.weiszfeld import median_weights
from kappaguard.search.attacks.base import Aggregation, Total


class ShardedCloud(Cloud):
    """Some coordinates of n vectors, with the distances of the whole vectors."""

    def __init__(self, base: Array, total: Total, mixing: Array | None = None, step: Step | None = None) -> None:
        super().__init__(base, mixing, step)
        self.total = total

    @cached_property
    def distances(self) -> Array:
        """Partial squared distances add up."""
        if self.step is not None and self.base.shape[-2] <= SMALL:
            found = mixed_distances(*self.step)
            if found is not None:
                return found
        return self.total(squared_distances(self.points))

    def mixed(self, mixing: Array) -> ShardedCloud:
        """The same with a mixing matrix in front."""
        plain = super().mixed(mixing)
        return ShardedCloud(plain.base, self.total, plain.mixing, plain.step)


def require_shardable(rule: Aggregation) -> Rule:
    """Only rules of ours that see their input coordinate by coordinate or through distances can be sharded."""
    parts = (*rule.steps, rule.rule) if isinstance(rule, Pipeline) else (rule,)
    if not isinstance(rule, Rule) or any(isinstance(p, Clipping | AdaptiveClipping | CenteredClipping) for p in parts):
        raise InputError(f"{getattr(rule, 'label', rule)} cannot be spread over processes: it needs whole vectors")
    return rule


def aggregate(rule: Rule, shard: Array, total: Total) -> Array:
    """The shard of the rule's output."""
    array, back = enter(shard)
    cloud: Cloud = ShardedCloud(array, total)
    last = rule
    if isinstance(rule, Pipeline):
        cloud, last = Chain(rule.steps).transform(cloud), rule.rule
    if isinstance(last, GeometricMedian):
        return back(cloud.combine(median_weights(Cloud(embedded(cloud.distances)))))
    return back(last.aggregate(cloud))


def embedded(distances: Array) -> Array:
    """n points in n dimensions with the given squared distances: all that a rule on distances needs to know."""
    pairs = np.asarray(distances)
    rows = pairs.mean(axis=1)
    gram = (rows[:, None] + rows[None, :] - pairs - rows.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))
