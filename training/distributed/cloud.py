"""A rule on a shard of the coordinates: distances and lengths are summed over the shards, all else is local."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kappaguard.rules.base.arrays import Array, device_of, enter, namespace, to_numpy
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.lazy import lazy
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import SMALL, Cloud, Step, mixed_distances
from kappaguard.rules.distances import squared_distances
from kappaguard.rules.gm import is_minimiser
from kappaguard.rules.pipeline import Chain
from kappaguard.rules.weiszfeld import median_weights
from kappaguard.search.attacks import columns
from kappaguard.search.attacks.base import Aggregation, Total


class ShardedCloud(Cloud):
    """Some coordinates of n vectors, with the distances and lengths of the whole vectors."""

    def __init__(self, base: Array, total: Total, mixing: Array | None = None, step: Step | None = None) -> None:
        super().__init__(base, mixing, step)
        self.total = total

    @lazy
    def distances(self) -> Array:
        """Partial squared distances add up."""
        if self.step is not None and self.base.shape[-2] <= SMALL:
            found = mixed_distances(*self.step)
            if found is not None:
                return found
        return self.total(squared_distances(self.points))

    def distances_from(self, index: int) -> Array:
        """Squared distances of whole vectors from one, summed over the processes."""
        return self.distances[..., index, :]

    @lazy
    def lengths(self) -> Array:
        """So do partial squared lengths."""
        own = super().lengths
        whole: Array = self.total(own * own) ** 0.5
        return whole

    def replaced(self, points: Array) -> ShardedCloud:
        """Other vectors, of which these are the same coordinates."""
        return ShardedCloud(points, self.total)

    def mixed(self, mixing: Array) -> ShardedCloud:
        """The same with a mixing matrix in front."""
        plain = super().mixed(mixing)
        return ShardedCloud(plain.base, self.total, plain.mixing, plain.step)


def require_shardable(rule: Aggregation) -> Rule:
    """Only rules of ours, which see whole vectors through their distances and lengths, can be sharded."""
    if not isinstance(rule, Rule):
        name = getattr(rule, "label", getattr(rule, "name", rule))
        raise InputError(f"{name} cannot be spread over processes: a rule of another library needs whole vectors")
    return rule


@dataclass(frozen=True)
class Sharded:
    """A rule as a function of shards, in which every process takes part."""

    rule: Rule
    total: Total

    def __call__(self, shard: Array) -> Array:
        """The shard of the rule's output."""
        return aggregate(self.rule, shard, self.total)


def attackable(rule: Rule, total: Total) -> Aggregation:
    """What an attack is told of the rule: itself, if few coordinates or a sample of them will do for the attack."""
    return rule if rule.traits.rotates or columns.applies(rule) else Sharded(rule, total)


def aggregate(rule: Rule, shard: Array, total: Total) -> Array:
    """The shard of the rule's output."""
    array, back = enter(shard)
    cloud = Chain(rule.front).transform(ShardedCloud(array, total))
    if is_minimiser(rule.last):
        weights = median_weights(Cloud(embedded(cloud.distances)))
        if not isinstance(array, np.ndarray):
            weights = namespace(array).asarray(weights, device=device_of(array))
        return back(cloud.combine(weights))
    return back(rule.last.aggregate(cloud))


def embedded(distances: Array) -> Array:
    """n points in n dimensions with the given squared distances: all that a rule on distances needs to know.

    Cholesky's factor of the inner products seen from the point with the smallest sum of distances, nearest points
    first: so the places of near points do not depend on far ones, whose squares would swamp them.
    """
    pairs = to_numpy(distances)
    n = len(pairs)
    pivot = int(np.sqrt(pairs).sum(axis=1).argmin())
    squares = pairs[pivot]
    gram = (squares[:, None] + squares[None, :] - pairs) / 2
    points = np.zeros((n, n))
    pivots: list[tuple[int, int]] = []
    for row in np.argsort(squares, kind="stable"):
        for place, other in pivots:
            inner = gram[row, other] - points[row, :place] @ points[other, :place]
            points[row, place] = inner / points[other, place]
        left = gram[row, row] - points[row] @ points[row]
        if left > 4 * n * np.finfo(np.float64).eps * gram[row, row]:
            points[row, len(pivots)] = np.sqrt(left)
            pivots.append((len(pivots), row))
    return points
