"""Bucketing: means of random groups."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, device_of, is_exact, namespace
from kappaguard.rules.base.checks import require_count
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import PreAggregation, Traits
from kappaguard.rules.cloud import Cloud


@dataclass(frozen=True)
class Bucketing(PreAggregation):
    """The means of ceil(n/s) buckets of s vectors, in a random order.

    Definition (Karimireddy et al. 2022): permute the vectors, cut them into buckets of s, average each. The last
    bucket may be smaller; it is averaged over its own size (the paper's formula divides it by s, which would not
    be translation-equivariant). s = floor(n/(2f)) unless given, at most n.
    Randomness: the permutation is ``permutation`` if given, else drawn from ``seed`` and n alone.
    """

    f: int
    s: int | None = None
    seed: int = 0
    permutation: tuple[int, ...] | None = None
    name: ClassVar[str] = "bucketing"
    _traits: ClassVar[Traits] = Traits(symmetric=False)

    def __post_init__(self) -> None:
        require_count(self.f, 0, "bucketing: f")
        require_count(self.seed, 0, "bucketing: seed")
        if self.s is not None:
            require_count(self.s, 1, "bucketing: s")
        if self.permutation is not None:
            if not isinstance(self.permutation, tuple):
                raise InputError(f"bucketing: permutation must be a tuple of indices, got {self.permutation!r}")
            for index in self.permutation:
                require_count(index, 0, "bucketing: an index of the permutation")

    def size(self, n: int) -> int:
        """The bucket size s for n vectors."""
        if self.s is not None:
            return min(self.s, n)
        if 2 * self.f > n:
            raise InputError(f"bucketing needs f <= n/2 for its default size, got n = {n} and f = {self.f}")
        return n if self.f == 0 else n // (2 * self.f)

    def transform(self, cloud: Cloud) -> Cloud:
        """The cloud of bucket means."""
        return cloud.mixed(self._mixing(cloud.n, cloud.base))

    def _mixing(self, n: int, like: Array) -> Array:
        order = self.permutation
        if order is not None and sorted(order) != list(range(n)):
            raise InputError(f"bucketing: permutation must hold each of 0 .. {n - 1} once, got {order}")
        mixing = _exact_mixing(n, self.size(n), self.seed, order)
        if is_exact(like):
            return mixing
        mixing = _mixing(n, self.size(n), self.seed, order)
        return (
            mixing if isinstance(like, np.ndarray) else namespace(like).asarray(mixing.copy(), device=device_of(like))
        )


@lru_cache(maxsize=64)
def _exact_mixing(n: int, size: int, seed: int, permutation: tuple[int, ...] | None) -> NDArray[Any]:
    """The rows of bucket means, as fractions."""
    order = permutation or tuple(np.random.default_rng(seed).permutation(n).tolist())
    mixing = np.full((-(-n // size), n), Fraction(0), dtype=object)
    for bucket, start in enumerate(range(0, n, size)):
        members = list(order[start : start + size])
        mixing[bucket, members] = Fraction(1, len(members))
    mixing.flags.writeable = False
    return mixing


@lru_cache(maxsize=64)
def _mixing(n: int, size: int, seed: int, permutation: tuple[int, ...] | None) -> NDArray[np.float64]:
    mixing = _exact_mixing(n, size, seed, permutation).astype(np.float64)
    mixing.flags.writeable = False
    return mixing
