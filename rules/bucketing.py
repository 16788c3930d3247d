"""Bucketing: means of random groups."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from kappaguard.rules.arrays import Array, device_of, is_exact, namespace
from kappaguard.rules.base import PreAggregation, Traits
from kappaguard.rules.checks import require_count
from kappaguard.rules.cloud import Cloud
from kappaguard.rules.errors import InputError


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
        size = self.size(n)
        order = self.permutation
        if order is None:
            order = tuple(np.random.default_rng(self.seed).permutation(n).tolist())
        if sorted(order) != list(range(n)):
            raise InputError(f"bucketing: permutation must hold each of 0 .. {n - 1} once, got {order}")
        mixing = np.full((-(-n // size), n), Fraction(0), dtype=object)
        for bucket, start in enumerate(range(0, n, size)):
            members = list(order[start : start + size])
            mixing[bucket, members] = Fraction(1, len(members))
        if is_exact(like):
            return mixing
        return namespace(like).asarray(mixing.astype(np.float64), device=device_of(like))
