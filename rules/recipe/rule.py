"""Rules that are little more than their recipe: the recipe says everything, and this evaluates it quickly.

Rules that select see the vectors through their distances only: weights come from the distances, in NumPy or exact
fractions, and the output is ``weights @ x`` on whatever backend x lives on.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from kappaguard.rules.base.arrays import Array, device_of, in_double, is_exact, namespace, to_numpy
from kappaguard.rules.base.checks import reject_nan
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule, Traits
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.coordinates import window_mean
from kappaguard.rules.ordering import smallest
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.recipe import (
    NearCentre,
    NearVector,
    OrderStatistics,
    Pieces,
    PivotDistance,
    Recipe,
    Rounds,
)
from kappaguard.rules.recipe.select import chosen_from, weights
from kappaguard.rules.recipe.weights import equal
from kappaguard.rules.weights import uniform


class RecipeBased(Rule):
    """A rule that does what its recipe says."""

    @abstractmethod
    def recipe(self, n: int) -> Recipe:
        """What it does with n vectors."""

    def aggregate(self, cloud: Cloud) -> Array:
        """The output of the recipe on the points of a cloud."""
        return aggregated(self.recipe(cloud.n), cloud)


@dataclass(frozen=True)
class RecipeRule(RecipeBased):
    """A recipe that somebody wrote, as a rule for its number of vectors."""

    given: Recipe
    name: ClassVar[str] = "recipe"

    @property
    def label(self) -> str:
        """The recipe itself as JSON, which is a name that it can be had by."""
        from kappaguard.rules.recipe.text import to_json

        return to_json(self.given)

    @property
    def trusted(self) -> int | None:
        """Whoever the recipe trusts."""
        return self.given.trusted

    @property
    def traits(self) -> Traits:
        """What holds for every recipe of its kind."""
        rounds = self.given.choice.rounds if isinstance(self.given.choice, Rounds) else ()
        pivoted = any(isinstance(each.score, PivotDistance) for each in rounds)
        by_coordinates = self.given.coordinatewise or isinstance(self.given.choice, NearVector)
        return Traits(rotates=not by_coordinates, symmetric=not pivoted)

    def recipe(self, n: int) -> Recipe:
        """The recipe that this rule evaluates."""
        if n != self.given.n:
            raise InputError(f"the recipe is for n = {self.given.n} vectors, got n = {n}")
        return self.given


def aggregated(recipe: Recipe, cloud: Cloud) -> Array:
    """The output of a recipe on a cloud of its n vectors."""
    if recipe.coordinatewise or isinstance(recipe.choice, NearVector):
        for count in recipe.mixing:
            distances = cloud.distances
            cloud = cloud.mixed(uniform(smallest(distances, count), count, distances))
        if isinstance(recipe.choice, NearVector):
            return _near_vector(recipe.choice, cloud)
        return _per_coordinate(recipe, cloud.points)
    distances = cloud.distances
    xp = namespace(distances)
    batch = distances.shape[:-2]
    tables = to_numpy(distances).reshape(math.prod(batch), recipe.n, recipe.n)
    found = np.array([weights(recipe, table) for table in tables]).reshape(*batch, recipe.n)
    return cloud.combine(found if is_exact(distances) else xp.asarray(found, device=device_of(distances)))


def _near_vector(choice: NearVector, cloud: Cloud) -> Array:
    """The mean of the vectors nearest to the centre; ties go to the lower index."""
    x = _moved(cloud).points
    reject_nan(x)
    xp = namespace(x)
    away = cloud.replaced(x - _centre(x, choice.weights)[..., None, :])
    # lengths cannot overflow as squares can
    far = xp.sum(away.points * away.points, axis=-1) if is_exact(x) else away.lengths
    return cloud.combine(uniform(smallest(far, choice.count), choice.count, far))


def _moved(cloud: Cloud) -> Cloud:
    """The same vectors less one of them, in double: a large common offset costs the centre no digits."""
    base = in_double(cloud.base)
    if is_exact(base) or not bool(namespace(base).all(namespace(base).isfinite(base))):
        return Cloud(base, cloud.mixing)
    return Cloud(base - base[..., :1, :], cloud.mixing)


def _centre(x: Array, given: tuple[Fraction, ...]) -> Array:
    """The sum of the sorted values times the weights, along axis -2; for equal weights on some neighbours, quickly."""
    used = [place for place, weight in enumerate(given) if weight]
    low, high = used[0], used[-1] + 1
    if given == equal(len(given), low, high):
        return window_mean(x, low, high)
    return _weighted(namespace(x).sort(x, axis=-2), given)


def chosen_points(recipe: Recipe, cloud: Cloud) -> Array:
    """The vectors that a recipe without mixing selects, of shape (..., k, d), in the order of the workers."""
    distances = cloud.distances
    xp = namespace(cloud.base)
    batch = distances.shape[:-2]
    tables = to_numpy(distances).reshape(math.prod(batch), recipe.n, recipe.n)
    members = np.array([chosen_from(recipe, table) for table in tables], dtype=np.int64).reshape(*batch, -1)
    points = cloud.points
    if points.ndim == 2:
        return points[members if is_exact(points) else xp.asarray(members, device=device_of(points)), :]
    return xp.take_along_axis(points, xp.asarray(members, device=device_of(points))[..., None], axis=-2)


def _per_coordinate(recipe: Recipe, x: Array) -> Array:
    """Order statistics, or the mean near a centre, along axis -2."""
    reject_nan(x)
    if isinstance(recipe.choice, Pieces):
        return _by_pieces(recipe, x)
    xp = namespace(x)
    values = xp.sort(x, axis=-2)
    if not isinstance(recipe.choice, NearCentre | OrderStatistics):
        raise AssertionError("not a coordinate-wise recipe")
    centre = _weighted(values, recipe.choice.weights)
    if isinstance(recipe.choice, OrderStatistics):
        return centre
    n, count = values.shape[-2], recipe.choice.count
    # the nearest are neighbours in sorted order: v_i is left for v_(i + count) while it is farther from the centre
    far = centre[..., None, :] - values[..., : n - count, :] > values[..., count:, :] - centre[..., None, :]
    first = xp.sum(xp.astype(far, xp.int64), axis=-2)[..., None, :]
    place = xp.reshape(xp.arange(n, device=device_of(x)), (n, 1))
    inside = (place >= first) & (place < first + count)
    zero = np.array(Fraction(0), dtype=object) if is_exact(x) else xp.zeros_like(values)
    return xp.sum(xp.where(inside, values, zero), axis=-2) / count


def _by_pieces(recipe: Recipe, x: Array) -> Array:
    """Column by column: each has its own way through the forks."""
    xp = namespace(x)
    rows = to_numpy(x)
    batch, d = rows.shape[:-2], rows.shape[-1]
    tables = rows.reshape(math.prod(batch), recipe.n, d)
    found = np.array([evaluate(replace(recipe, mixing=()), table) for table in tables]).reshape(*batch, d)
    return found if is_exact(x) else xp.asarray(found.astype(np.float64), device=device_of(x))


def _weighted(values: Array, given: tuple[Fraction, ...]) -> Array:
    xp = namespace(values)
    if is_exact(values):
        factors = np.array(given, dtype=object)
    else:
        factors = xp.asarray([float(weight) for weight in given], dtype=values.dtype, device=device_of(values))
    used = [place for place, weight in enumerate(given) if weight]
    return xp.sum(values[..., used, :] * factors[used][:, None], axis=-2)
