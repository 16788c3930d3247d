"""The adaptive adversary: the direction that hurts the rule most at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kappaguard.rules.base.arrays import Array, namespace
from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.base import Action, Aggregation, Attack, Total, repeated, require_honest, whole
from kappaguard.search.attacks.line import strongest
from kappaguard.search.attacks.little_is_enough import LittleIsEnough

ITERATIONS = 20


@dataclass(frozen=True)
class Adaptive(Attack):
    """All Byzantine workers send mean + eta a for the best of three directions a, each with its best eta.

    The directions are those of FOE (the mean), of ALIE (the coordinate-wise standard deviation), and the one in which
    the honest vectors vary most (the first principal component). Both signs of each are searched, and what counts is
    ||F(x) - mean||, so it is at least as strong as optimised FOE and ALIE in every step.
    """

    name: ClassVar[str] = "adaptive"

    @property
    def needs_rule(self) -> bool:
        """It always asks the rule."""
        return True

    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """The strongest of the three, f times."""
        require_honest(honest, f)
        mean = namespace(honest).mean(honest, axis=0)
        if f == 0:
            return Action(repeated(mean, 0))
        if rule is None:
            raise InputError("adaptive needs the rule that it attacks")
        directions = [-mean, LittleIsEnough().direction(honest, mean), principal(honest, mean, total)]
        found = [strongest(rule, honest, f, mean, direction, total) for direction in directions]
        best = max(range(len(found)), key=lambda index: found[index].error)
        eta, error = found[best].eta, found[best].error
        return Action(repeated(mean + eta * directions[best], f), eta=eta, error=error)


def principal(honest: Array, mean: Array, total: Total = whole) -> Array:
    """The first principal component of the honest vectors, as long as they vary along it; by power iteration."""
    xp = namespace(honest)
    centred = honest - mean[None]
    gram = total(xp.matmul(centred, xp.matrix_transpose(centred)))
    weights = gram[:, int(xp.argmax(xp.linalg.diagonal(gram)))]
    for _ in range(ITERATIONS):
        size = xp.linalg.vector_norm(weights)
        weights = xp.matmul(gram, weights / xp.where(size > 0, size, xp.ones_like(size)))
    size = xp.linalg.vector_norm(weights)
    weights = weights / xp.where(size > 0, size, xp.ones_like(size))
    return xp.matmul(weights, centred) / honest.shape[0] ** 0.5
