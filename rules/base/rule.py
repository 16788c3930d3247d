"""What a rule and a pre-aggregation are.

Both are small frozen dataclasses. A rule maps vectors of shape (..., n, d) to (..., d); a pre-aggregation maps
them to (..., m, d). Neither mutates its input, keeps state, or draws randomness that was not passed in.

Both work on a ``Cloud``, which forms the points and the pairwise distances only when they are asked for: a
pipeline such as ``nnm+krum`` forms the distances of the input once, and touches the d coordinates once more for
the output.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, ClassVar, overload

import numpy as np

from kappaguard.rules.base.arrays import Array, enter
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.cloud import Cloud

if TYPE_CHECKING:
    from kappaguard.rules.pipeline import Chain, Pipeline
    from kappaguard.rules.recipe.recipe import Recipe


@dataclass(frozen=True)
class Coefficient:
    """A closed form kappa(n, f) that somebody claims for a rule: ``expression`` is arithmetic in n and f."""

    expression: str
    source: str


@dataclass(frozen=True)
class Traits:
    """What holds for a rule or a pre-aggregation, ties aside."""

    rational: bool = True
    """The output is a rational function of the input, so it runs on exact fractions."""
    translates: bool = True
    """F(x + c) = F(x) + c."""
    scales: bool = True
    """F(a x) = a F(x) for a > 0."""
    rotates: bool = True
    """F(x Q) = F(x) Q for orthogonal Q."""
    symmetric: bool = True
    """The order of the workers does not matter."""

    def __and__(self, other: Traits) -> Traits:
        return Traits(
            **{field.name: getattr(self, field.name) and getattr(other, field.name) for field in fields(self)}
        )


UNKNOWN = Traits(rational=False, translates=False, scales=False, rotates=False, symmetric=False)
"""What is known of a rule that is somebody else's code."""


class Stage(ABC):
    """What rules and pre-aggregations share: a name, traits, and parameters that are the fields of a dataclass."""

    name: ClassVar[str]
    _traits: ClassVar[Traits] = Traits()

    @property
    def traits(self) -> Traits:
        """Which invariances hold for this rule."""
        return self._traits

    @property
    def label(self) -> str:
        """The name with the parameters that differ from their defaults, f left out: ``bucketing(s=2)``."""
        given = [
            f"{field.name}={_plain(getattr(self, field.name))!r}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.name != "f" and (field.default is MISSING or getattr(self, field.name) != field.default)
        ]
        return f"{self.name}({', '.join(given)})" if given else self.name


def _plain(value: object) -> object:
    """A NumPy number as a Python number, which is how people write it."""
    return value.item() if isinstance(value, np.generic) else value


class Rule(Stage):
    """An aggregation rule: n vectors in, one out."""

    coefficient: ClassVar[Coefficient | None] = None

    @property
    def claim(self) -> Coefficient | None:
        """The closed form that is claimed for it, if there is one."""
        return self.coefficient

    @property
    def trusted(self) -> int | None:
        """A worker that the adversary cannot be: only sets S with it count."""
        return None

    @property
    def front(self) -> tuple[PreAggregation, ...]:
        """The pre-aggregations in front of it, which only a pipeline has."""
        return ()

    @property
    def last(self) -> Rule:
        """What comes after them: the rule itself, unless it is a pipeline."""
        return self

    def recipe(self, n: int) -> Recipe | None:
        """What it does with n vectors, as data; None if no recipe says that."""
        del n
        return None

    def weights(self, distances: Array) -> Array:
        """The weight of each vector in the output, of shape (n,), from the n x n matrix of squared distances."""
        from kappaguard.rules.recipe.select import weights

        found = self.recipe(int(distances.shape[-1]))
        if found is None or found.coordinatewise:
            raise InputError(f"{self.label} has no weights that follow from the distances")
        return weights(found, distances)

    def __call__(self, x: Array) -> Array:
        """The aggregate of x, of shape (..., n, d) -> (..., d)."""
        array, back = enter(x)
        return back(self.aggregate(Cloud(array)))

    @abstractmethod
    def aggregate(self, cloud: Cloud) -> Array:
        """The aggregate of the points of a cloud."""


def traits_of(rule: object) -> Traits:
    """The traits of a rule of ours; of other code nothing is known."""
    return rule.traits if isinstance(rule, Rule) else UNKNOWN


def trusted_by(rule: object) -> int | None:
    """The worker that a rule trusts, which the adversary cannot be; other code trusts nobody."""
    return rule.trusted if isinstance(rule, Rule) else None


class PreAggregation(Stage):
    """A step in front of a rule: n vectors in, m out. ``NNM(f=4) + Krum(f=4)`` composes them into a pipeline."""

    def __call__(self, x: Array) -> Array:
        """The new vectors of x, of shape (..., n, d) -> (..., m, d)."""
        array, back = enter(x)
        return back(self.transform(Cloud(array)).points)

    def mixing(self, n: int) -> tuple[int, ...] | None:
        """How many nearest of n vectors are averaged, layer by layer; None if it does something else."""
        del n
        return None

    @abstractmethod
    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud of new vectors."""

    def amplify(self, claim: Coefficient | None) -> Coefficient | None:
        """The coefficient that is claimed for a rule behind this step, given the rule's own."""
        del claim
        return None

    @overload
    def __add__(self, following: PreAggregation) -> Chain: ...
    @overload
    def __add__(self, following: Rule) -> Pipeline: ...
    def __add__(self, following: PreAggregation | Rule) -> Chain | Pipeline:
        from kappaguard.rules.pipeline import compose

        return compose(self, following)
