"""Mimic: all Byzantine workers copy one honest worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kappaguard.rules.base.arrays import Array, device_of, namespace
from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.base import Action, Aggregation, Attack, Total, repeated, require_honest, whole


@dataclass(frozen=True)
class Memory:
    """The running mean mu and direction z (both (d,)), the projections summed per worker (m,), and the steps seen."""

    mean: Array
    direction: Array
    projections: Array
    steps: int


@dataclass(frozen=True)
class Mimic(Attack):
    """All Byzantine workers send the vector of one honest worker, found by the heuristic of Karimireddy et al. 2022.

    The worker should lie far out along the direction z in which the honest vectors vary most over time. z comes from
    Oja's online power iteration over the first ``warmup`` steps, t = 1, 2, ...:

        mu <- t/(t+1) mu + 1/(t+1) mean of the x_i
        z  <- t/(t+1) z + 1/(t+1) c/||c||,   c = sum_i (x_i - mu) <x_i - mu, z>,   then z <- z/||z||,

    from a random unit vector z (of ``seed``) and mu = the first mean. Copied is the worker with the largest
    |sum over the steps so far of <z, x_i - mean>|; after the warm-up it stays the same one for ever.

    With ``rechoose``, as in the code of the paper's authors, the first worker is copied during the warm-up and
    afterwards, anew in every step, the worker with the largest |<z, x_i>|.
    """

    warmup: int = 100
    seed: int = 0
    rechoose: bool = False
    name: ClassVar[str] = "mimic"

    def __post_init__(self) -> None:
        require_count(self.warmup, 1, "mimic: warmup")
        require_count(self.seed, 0, "mimic: seed")
        if not isinstance(self.rechoose, bool):
            raise InputError(f"mimic: rechoose is True or False, got {self.rechoose!r}")

    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """The chosen worker's vector, f times."""
        require_honest(honest, f)
        seen = self._first(honest, total) if memory is None else memory
        if not isinstance(seen, Memory) or seen.projections.shape[0] != honest.shape[0]:
            raise InputError("mimic: the memory is of another run")
        learning = seen.steps < self.warmup
        if learning:
            seen = self._learn(honest, seen, total)
        xp = namespace(honest)
        if not self.rechoose:
            chosen = int(xp.argmax(abs(seen.projections)))
        else:
            chosen = 0 if learning else int(xp.argmax(abs(total(xp.matmul(honest, seen.direction)))))
        return Action(repeated(honest[chosen], f), seen)

    def _first(self, honest: Array, total: Total) -> Memory:
        xp = namespace(honest)
        mean = xp.mean(honest, axis=0)
        drawn = np.random.default_rng(self.seed).standard_normal(honest.shape[1])
        start = xp.asarray(drawn, dtype=honest.dtype, device=device_of(honest))
        return Memory(mean, start / _length(start, total), xp.zeros_like(honest[:, 0]), 0)

    def _learn(self, honest: Array, seen: Memory, total: Total) -> Memory:
        xp = namespace(honest)
        old, new = (seen.steps + 1) / (seen.steps + 2), 1 / (seen.steps + 2)
        mean = xp.mean(honest, axis=0)
        centre = old * seen.mean + new * mean
        along = total(xp.matmul(honest, seen.direction) - xp.sum(centre * seen.direction))
        pulled = xp.matmul(along, honest) - xp.sum(along) * centre
        length = _length(pulled, total)
        direction = old * seen.direction
        if float(length) > 0:
            direction = direction + (new / length) * pulled
        size = _length(direction, total)
        direction = direction / xp.where(size > 0, size, xp.ones_like(size))
        projections = total(xp.matmul(honest, direction) - xp.sum(mean * direction))
        return Memory(centre, direction, seen.projections + projections, seen.steps + 1)


def _length(vector: Array, total: Total) -> Array:
    """The Euclidean norm."""
    xp = namespace(vector)
    return xp.sqrt(total(xp.sum(vector * vector)))
