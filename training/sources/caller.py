"""Rounds that the caller has: arrays, or whatever can be iterated over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kappaguard.rules.base.arrays import Array, as_array, device_of, namespace
from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.source import Source, StreamRound


@dataclass(frozen=True, eq=False)
class Listed(Source):
    """Rounds that are all there: they can be asked for again."""

    items: Sequence[Any]
    n: int
    given: tuple[int, ...] | None = None
    """Who is honest in all rounds that do not say so themselves."""
    name: str = "rounds of the caller"

    independent = False

    @property
    def label(self) -> str:
        """That they are somebody's own."""
        return self.name

    @property
    def workers(self) -> int:
        """How many workers the first round has."""
        return int(self._round(0).vectors.shape[0])

    @property
    def dimension(self) -> int:
        """The dimension of the first round."""
        return int(self._round(0).vectors.shape[1])

    @property
    def complete(self) -> bool:
        """Whether there are n vectors."""
        return self.workers == self.n

    @property
    def length(self) -> int | None:
        """How many rounds there are."""
        return len(self.items)

    @property
    def fingerprint(self) -> str:
        """There is none for what only the caller has."""
        raise InputError("a store keeps what can be asked for again: a source by name or a file")

    def _round(self, place: int) -> StreamRound:
        if not len(self.items):
            raise InputError("there is no round")
        return round_of(self.items[place], self.n, self.given, place)

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """The rounds as they were handed over."""
        shape = self.workers, self.dimension
        for place in range(begin, min(end, len(self.items))):
            yield _same_shape(self._round(place), shape, place)


class Once(Source):
    """Rounds of an iterator: each is seen once, and only the first can be looked at before."""

    independent = False
    once = True

    def __init__(self, stream: Iterable[Any], n: int | None, f: int, honest: tuple[int, ...] | None = None) -> None:
        self._stream = iter(stream)
        self._honest = honest
        first = next(self._stream, None)
        if first is None:
            raise InputError("there is no round")
        self.n = n if n is not None else _count_of(first)
        self.f = f
        self._first = round_of(first, self.n, honest, 0)
        self._next = 1

    @property
    def label(self) -> str:
        """That it is somebody's own."""
        return "a stream of the caller"

    @property
    def workers(self) -> int:
        """How many workers the first round has."""
        return int(self._first.vectors.shape[0])

    @property
    def dimension(self) -> int:
        """The dimension of the first round."""
        return int(self._first.vectors.shape[1])

    @property
    def complete(self) -> bool:
        """Whether there are n vectors."""
        return self.workers == self.n

    @property
    def fingerprint(self) -> str:
        """None: what a generator yields is not known beforehand."""
        raise InputError("a store keeps what can be asked for again: a source by name or a file")

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """In order, until the stream ends."""
        for place in range(begin, end):
            if place == 0:
                yield self._first
                continue
            if place != self._next:
                raise InputError("the rounds of a stream can only be seen in order")
            item = next(self._stream, None)
            if item is None:
                return
            self._next += 1
            shape = self.workers, self.dimension
            yield _same_shape(round_of(item, self.n, self._honest, place), shape, place)


def round_of(item: Any, n: int, honest: tuple[int, ...] | None, place: int) -> StreamRound:
    """A matrix, a list of vectors, or a pair of those and the honest places."""
    if isinstance(item, StreamRound):
        return item
    if _is_pair(item):
        item, honest = item[0], tuple(int(index) for index in item[1])
    vectors = _numpy(as_array(item))
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise InputError(f"round {place}: vectors of shape (n, d) are needed, got {tuple(vectors.shape)}")
    xp = namespace(vectors)
    if bool(xp.any(xp.isnan(vectors))):
        raise InputError(f"round {place} has NaN")
    if honest is None and vectors.shape[0] < n:
        honest = tuple(range(vectors.shape[0]))
    return StreamRound(vectors, honest)


def _count_of(item: Any) -> int:
    if isinstance(item, StreamRound):
        return int(item.vectors.shape[0])
    if _is_pair(item):
        item = item[0]
    shape = as_array(item).shape
    if len(shape) != 2:
        raise InputError(f"round 0: vectors of shape (n, d) are needed, got {tuple(shape)}")
    return int(shape[0])


def _is_pair(item: Any) -> bool:
    """Whether it is a round with its honest places, and not a round of two vectors."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    first = item[0]
    if hasattr(first, "ndim"):
        return bool(first.ndim == 2)
    return (
        isinstance(first, Sequence) and len(first) > 0 and (hasattr(first[0], "ndim") or isinstance(first[0], Sequence))
    )


def _numpy(x: Array) -> Array:
    """A tensor on the CPU as the array that it shares its memory with; elsewhere it stays."""
    if isinstance(x, np.ndarray) or str(device_of(x)) != "cpu":
        return x
    plain = x.detach()
    return plain.numpy() if str(plain.dtype) in ("torch.float32", "torch.float64") else plain.float().numpy()


def _same_shape(seen: StreamRound, shape: tuple[int, int], place: int) -> StreamRound:
    if tuple(seen.vectors.shape) != shape:
        raise InputError(f"round {place} has shape {tuple(seen.vectors.shape)}, and the first one {shape}")
    return seen
