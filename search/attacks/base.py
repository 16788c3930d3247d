"""What an attack is: from the honest vectors of a step to the f Byzantine ones.

An attack is a small frozen dataclass. What it learns over the steps of a run is not kept in it but handed on as
``memory``, so that a run can be stored, continued and repeated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from kappaguard.rules.average import Average
from kappaguard.rules.base.arrays import Array, enter, namespace
from kappaguard.rules.base.checks import require_count, require_shape
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.cloud import Cloud

Aggregation = Callable[[Array], Array]
"""A rule under attack: (n, d) -> (d,)."""

Total = Callable[[Array], Array]
"""The sum of an array over the shards of the coordinates, if the vectors are spread over several processes."""


def whole(partial: Array) -> Array:
    """The sum over one shard: the vectors are in one place."""
    return partial


@dataclass(frozen=True)
class Action:
    """What the Byzantine workers send in one step, (f, d), and what they remember of it.

    ``eta`` is the step along the attack's direction and ``error`` the distance of the rule's output from the honest
    mean that the attack expects; both are None for attacks that search nothing.
    """

    vectors: Array
    memory: Any = None
    eta: float | None = None
    error: float | None = None


class Attack(ABC):
    """An adversary that sees the honest vectors of every step, and the rule."""

    name: ClassVar[str]

    @property
    def label(self) -> str:
        """The name, with the parameters that were given."""
        return self.name

    @property
    def needs_rule(self) -> bool:
        """Whether it can do nothing without the rule."""
        return False

    @abstractmethod
    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """The Byzantine vectors for honest vectors of shape (m, d), and the memory for the next step.

        ``honest`` may be a shard of the coordinates; then ``total`` sums over the shards, and the result is a shard.
        """

    def __call__(self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None) -> Array:
        """The Byzantine vectors, (f, d)."""
        return self.act(honest, f, rule, memory).vectors


def require_honest(honest: Array, f: int) -> None:
    """The honest vectors must be one (m, d) matrix of finite numbers, and f a count."""
    require_shape(honest)
    require_count(f, 0, "f")
    if honest.ndim != 2:
        raise InputError(f"an attack takes one matrix of honest vectors, got shape {tuple(honest.shape)}")


def mean_of(honest: Array) -> Array:
    """The mean of the honest vectors."""
    x, back = enter(honest)
    return back(Average().aggregate(Cloud(x)))


def repeated(vector: Array, f: int) -> Array:
    """The same vector f times, without copying it."""
    return namespace(vector).broadcast_to(vector[None], (f, vector.shape[0]))
