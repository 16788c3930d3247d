"""GM: the geometric median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kappaguard.rules.base.arrays import Array, enter, in_double, namespace
from kappaguard.rules.base.checks import require_count, require_inexact, require_positive
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Coefficient, Rule, Traits
from kappaguard.rules.clip import lengths as lengths_of
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.smoothed import smoothed_median
from kappaguard.rules.weiszfeld import differentiable_step, distance_bound, median_weights, minimise


class Bounded(NamedTuple):
    """An output and an upper bound on its distance to the true minimiser."""

    point: Array
    bound: Array


@dataclass(frozen=True)
class GeometricMedian(Rule):
    """The point with the smallest sum of distances to the n vectors.

    Definition (paper, appendix on the geometric median): argmin_y sum_i ||y - x_i||, to within 1e-9 of the spread
    of the input (``with_bound`` says how near). The spread is the median distance of the input to the output, so
    the tolerance, and the output, follow every translation, scaling and rotation.
    The minimiser is unique unless all vectors lie on one line and n is even; then it is the midpoint of the
    minimising segment, as for the median. Vectors with infinite entries are discarded, and so are those farther than
    1e152 times the radius of the tightest majority.
    Coefficient: 4 (1 + f/(n - 2f))^2, paper, proposition on GM.

    With ``steps`` it is not that point but what so many smoothed Weiszfeld steps from the origin lead to, distances
    below ``nu`` counting as ``nu`` (Pillutla et al. 2022; see ``kappaguard.rules.smoothed``): three steps and nu = 0.1
    in the code of the paper's authors. Nothing is claimed for it, and it follows neither translation nor scaling.
    """

    steps: int | None = None
    nu: float = 0.1
    name: ClassVar[str] = "gm"
    coefficient: ClassVar[Coefficient] = Coefficient("4*(1+f/(n-2*f))**2", "Fixing by Mixing, GM")
    _traits: ClassVar[Traits] = Traits(rational=False)

    def __post_init__(self) -> None:
        if self.steps is not None:
            require_count(self.steps, 1, "gm: steps")
        require_positive(self.nu, "gm: nu")

    @property
    def traits(self) -> Traits:
        """Those of a minimiser; a few steps from the origin see where that is, and nu is a length."""
        return self._traits if self.steps is None else Traits(rational=False, translates=False, scales=False)

    @property
    def claim(self) -> Coefficient | None:
        """The paper's, for the minimiser."""
        return self.coefficient if self.steps is None else None

    def aggregate(self, cloud: Cloud) -> Array:
        """The geometric median of the points."""
        require_inexact(self.name, cloud.base)
        if self.steps is not None:
            return smoothed_median(cloud, self.steps, self.nu)
        if getattr(cloud.base, "requires_grad", False):
            solution = minimise(cloud.detached())
            return differentiable_step(cloud.points, cloud.combine(solution.weights), solution.settled)
        return cloud.combine(median_weights(cloud))

    def with_bound(self, x: Array) -> Bounded:
        """The geometric median of x and a bound on its distance to the true minimiser, rounding included."""
        if self.steps is not None:
            raise InputError(f"{self.label} stops after {self.steps} steps: no bound on its distance is known")
        array, back = enter(x)
        require_inexact(self.name, array)
        cloud = Cloud(array)
        solution = minimise(cloud)
        point = cloud.combine(solution.weights)
        xp = namespace(array)
        finite = xp.all(xp.isfinite(array), axis=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            difference = xp.where(finite[..., None], in_double(array) - in_double(point)[..., None, :], 0.0)
        lengths = xp.where(finite, lengths_of(difference), float("inf"))
        count = xp.sum(xp.astype(finite, xp.int64), axis=-1, keepdims=True)
        median = xp.take_along_axis(xp.sort(lengths, axis=-1), count // 2, axis=-1)[..., 0]
        bound = distance_bound(solution) * median + _rounding(array, solution.weights)
        return Bounded(back(point), back(xp.asarray(bound)))


def _rounding(x: Array, weights: Array) -> Array:
    """How far the sum of weights times vectors can be off in the arithmetic of x: (n + 2) eps sum_j |w_j| ||x_j||.

    A single vector with weight one is returned as it is.
    """
    xp = namespace(x)
    counted = xp.all(xp.isfinite(x), axis=-1) & (weights != 0)
    lengths = lengths_of(xp.where(counted[..., None], x, xp.zeros_like(x)))
    total = xp.sum(xp.abs(weights) * lengths, axis=-1)
    single = xp.sum(xp.astype(weights != 0, xp.int64), axis=-1) == 1
    return xp.where(single, xp.zeros_like(total), (x.shape[-2] + 2) * float(xp.finfo(x.dtype).eps) * total)


def is_minimiser(rule: object) -> bool:
    """Whether a rule is the geometric median itself, and not a few steps towards it."""
    return isinstance(rule, GeometricMedian) and rule.steps is None
