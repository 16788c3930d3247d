"""Honest vectors and an attack's direction in few coordinates: the error of many eta without looking at d again.

The honest vectors x_i, their mean and the Byzantine vectors mean + eta a lie in a plane of dimension at most m + 1
(m + 2 with the origin, which only rules that are not translation-equivariant see). A rule that commutes with
rotations stays in it. So the squared distances between the mean, the x_i, mean + a and the origin are formed once,
coordinates follow from the eigenvectors of their Gram matrix about the mean, and one eta costs n^2 and not n d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, enter, namespace, to_numpy
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.distances import SAFE_LEAST, SAFE_MOST, squared_distances
from kappaguard.rules.gm import is_minimiser
from kappaguard.rules.gram import distances_from_gram
from kappaguard.rules.pipeline import Chain
from kappaguard.search.attacks.base import Total, whole

NEGLIGIBLE = 1e-15
EQUAL = 1e-13
"""Vectors that are so near, relative to their norms, are equal."""
ROUNDED = 1e-7
"""The same for inner products of float32 that were added up in blocks."""


@dataclass(frozen=True)
class Reduced:
    """Coordinates relative to the honest mean: of the honest vectors (m, r), the direction (r,), the origin (r,).

    The origin is not a number where it was not asked for.
    """

    honest: NDArray[np.float64]
    direction: NDArray[np.float64]
    origin: NDArray[np.float64]
    distances: NDArray[np.float64]

    @property
    def unit(self) -> float:
        """The eta whose step is as long as the honest vectors' standard deviation; 1 if they have none."""
        spread = float(np.sqrt(np.sum(self.honest**2) / len(self.honest)))
        length = float(np.linalg.norm(self.direction))
        return spread / length if spread > 0 and length > 0 else 1.0

    def clouds(self, etas: NDArray[np.float64], f: int) -> Cloud:
        """The clouds of all n vectors, one per eta, (K, n, r), with their distances known."""
        m, count = len(self.honest), len(etas)
        squares = np.sum(self.honest**2, axis=1)
        along = self.honest @ self.direction
        length = float(self.direction @ self.direction)
        distances = np.zeros((count, m + f, m + f))
        distances[:, :m, :m] = self.distances
        mixed = np.maximum(squares - 2 * etas[:, None] * along + (etas**2)[:, None] * length, 0.0)
        distances[:, :m, m:] = mixed[:, :, None]
        distances[:, m:, :m] = mixed[:, None, :]
        points = np.empty((count, m + f, self.honest.shape[1]))
        points[:, :m] = self.honest
        points[:, m:] = etas[:, None, None] * self.direction
        return Cloud.known(points, distances, points @ points.swapaxes(-1, -2))

    def errors(self, rule: Rule, etas: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        """||F(x) - mean|| for every eta, F being a rule that commutes with rotations."""
        result: NDArray[np.float64] = np.linalg.norm(self.outputs(rule, etas, f), axis=-1)
        return result

    def outputs(self, rule: Rule, etas: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        """F(x) - mean in these coordinates, for every eta, (K, r)."""
        cloud = self.clouds(etas, f)
        if not rule.traits.translates:
            output = rule(cloud.points - self.origin) + self.origin
        elif ends_in_median(rule):
            output = rule.last.aggregate(_seen_by_pairs(Chain(rule.front).transform(cloud)))
        else:
            output = rule.aggregate(cloud)
        return np.asarray(output, dtype=np.float64)


def ends_in_median(rule: Rule) -> bool:
    """Whether the rule is the geometric median, alone or at the end of a pipeline."""
    return is_minimiser(rule.last)


def _seen_by_pairs(cloud: Cloud) -> Cloud:
    """The same vectors, with distances from inner products where they are not known yet."""
    return cloud if cloud.mixing is None else Cloud.known(cloud.points, _pairs(cloud.points))


def _pairs(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances of a batch by inner products: enough for a search, and ten times as quick as differences."""
    centred = points - points.mean(axis=-2, keepdims=True)
    found = distances_from_gram(centred @ centred.swapaxes(-1, -2))
    return np.where(found.equal(EQUAL), 0.0, found.distances)


def reduce(honest: Array, mean: Array, direction: Array, total: Total = whole, origin: bool = True) -> Reduced:
    """The coordinates of honest vectors (m, d), a direction (d,) and the origin if asked for, from one pass."""
    known = _inner_products(honest, mean, direction, origin) if total is whole else None
    if known is None:
        return _in_coordinates(*_from_distances(honest, mean, direction, total, origin))
    return _in_coordinates(*known)


def from_inner_products(gram: NDArray[np.float64], m: int) -> Reduced:
    """From inner products about the mean of m honest vectors, the direction and the origin, rounded to float32.

    What differs by less than that is equal.
    """
    found = distances_from_gram(gram[:m, :m])
    return _in_coordinates(gram, np.where(found.equal(ROUNDED), 0.0, found.distances), ROUNDED)


def _in_coordinates(
    gram: NDArray[np.float64], distances: NDArray[np.float64], negligible: float = NEGLIGIBLE
) -> Reduced:
    """From the inner products of the honest vectors, the direction and perhaps the origin."""
    m = len(distances)
    scale = _scales(gram.diagonal(), m)
    values, vectors = np.linalg.eigh(gram / scale[:, None] / scale)
    kept = values > negligible * max(float(values[-1]), 0.0)
    if not np.any(kept):
        kept[-1] = True
    coordinates = scale[:, None] * vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    origin = coordinates[m + 1] if len(gram) > m + 1 else np.full(coordinates.shape[1], np.nan)
    return Reduced(coordinates[:m], coordinates[m], origin, distances)


def _scales(squares: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    """What brings the direction and the origin to the length of the longest honest vector, or they would hide it."""
    longest = float(np.max(squares[:m]))
    scale = np.ones(len(squares))
    if longest > 0:
        with np.errstate(over="ignore"):
            ratio = squares[m:] / longest
        scale[m:] = np.sqrt(np.where((ratio > 0) & np.isfinite(ratio), ratio, 1.0))
    return scale


Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Inner products about the mean of the honest vectors, the direction and the origin; squared distances of the first."""


def _inner_products(honest: Array, mean: Array, direction: Array, origin: bool) -> Pairs | None:
    """By the compiled kernel, without a copy of the vectors; None where it does not apply or digits would be lost."""
    (x, _), (centre, _), (along, _) = enter(honest), enter(mean), enter(direction)
    if not native.applies(x):
        return None
    gram = native.gram_about(x, centre, np.stack([along, -centre]) if origin else along[None])
    distances = _distances(gram, len(x))
    return None if distances is None else (gram, distances)


def _distances(gram: NDArray[np.float64], m: int) -> NDArray[np.float64] | None:
    """Of the honest vectors, from inner products about their mean; None if digits would be lost."""
    squares = gram.diagonal()
    if not np.all((squares == 0) | ((squares > SAFE_LEAST) & (squares < SAFE_MOST))):
        return None
    found = distances_from_gram(gram[:m, :m])
    return None if np.any(found.lost()) else np.asarray(found.distances)


def _from_distances(honest: Array, mean: Array, direction: Array, total: Total, origin: bool) -> Pairs:
    xp = namespace(honest)
    last = [xp.zeros_like(mean)[None]] if origin else []
    together = xp.concat([mean[None], honest, (mean + direction)[None], *last], axis=0)
    plain = together.numpy() if type(together).__module__ == "torch" and together.device.type == "cpu" else together
    pairs = to_numpy(total(squared_distances(plain)))
    from_mean = pairs[0, 1:]
    m = honest.shape[0]
    return (from_mean[:, None] + from_mean[None, :] - pairs[1:, 1:]) / 2, pairs[1 : m + 1, 1 : m + 1]
