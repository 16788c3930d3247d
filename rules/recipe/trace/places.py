"""Places and ranks that depend on the input: what argmin, argsort and the ranks of an argsort hold."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.expression import Rank, Symbols
from kappaguard.rules.recipe.trace.refusal import refuse


class Ranked:
    """One of several values, and which one depends on an order: ``values[j]`` if member j of the family has the rank.

    An argmin is a place with the values 0 .. n - 1; the best of several subsets one whose values are tuples.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, symbols: Symbols, members: tuple[int, ...], rank: Rank, values: Sequence[Any]) -> None:
        self.symbols, self.members, self.rank, self.values = symbols, members, rank, tuple(values)

    def with_values(self, values: Sequence[Any]) -> Ranked:
        """The same order with other values."""
        return Ranked(self.symbols, self.members, self.rank, values)

    def __len__(self) -> int:
        sizes = {len(value) for value in self.values}
        if len(sizes) != 1:
            refuse("how many are selected depends on the input")
        return sizes.pop()

    def __iter__(self) -> Iterator[Ranked]:
        return (self.with_values([value[place] for value in self.values]) for place in range(len(self)))

    def __getitem__(self, place: Any) -> Ranked:
        return self.with_values([value[place] for value in self.values])

    def _plain(self) -> Any:
        refuse("an index that depends on the input is turned into a plain number", "use it as an index, as it is")

    __index__ = __int__ = __bool__ = __float__ = _plain

    def __eq__(self, other: object) -> Any:
        from kappaguard.rules.recipe.trace.marks import Mark

        if isinstance(other, bool) or not isinstance(other, int | np.integer) or not _are_places(self.values):
            refuse("an index that depends on the input is compared")
        return Mark((self,), int(other), len(self.values))

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from kappaguard.rules.recipe.trace.ufuncs import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def _shifted(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(other, int | np.integer):
            refuse("an index that depends on the input is computed with")
        return self.with_values([operation(value, int(other)) for value in self.values])

    def __add__(self, other: Any) -> Any:
        return self._shifted(other, lambda value, by: value + by)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._shifted(other, lambda value, by: value - by)

    def __mul__(self, other: Any) -> Any:
        return self._shifted(other, lambda value, by: value * by)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._shifted(other, lambda value, by: value // by)

    def __mod__(self, other: Any) -> Any:
        return self._shifted(other, lambda value, by: value % by)

    def item(self) -> Ranked:
        """The entry itself: it is a symbol already."""
        return self

    def tolist(self) -> Ranked:
        """The array itself: its entries are symbols."""
        return self


class Standing:
    """The rank that one entry has in an order of all: what ``s.argsort().argsort()`` holds at that entry.

    ``order`` are the places by rank. Compared with a number it says whether the entry is among the first so many.
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, order: tuple[Ranked, ...], entry: int, shift: int = 0) -> None:
        self.order, self.entry, self.shift, self.symbols = order, entry, shift, order[0].symbols

    def __add__(self, other: Any) -> Standing:
        return Standing(self.order, self.entry, self.shift + operator.index(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Standing:
        return self + -operator.index(other)

    def _among(self, start: int, stop: int) -> Any:
        from kappaguard.rules.recipe.trace.marks import Mark

        size = len(self.order)
        start, stop = (min(max(each - self.shift, 0), size) for each in (start, stop))
        if start >= stop or stop - start == size:
            return start < stop
        return Mark(self.order[start:stop], self.entry, size)

    def _limit(self, other: Any) -> int:
        if isinstance(other, bool) or not isinstance(other, int | float | np.number):
            refuse("a rank is compared with something that depends on the input")
        return math.ceil(other)

    def __lt__(self, other: Any) -> Any:
        return self._among(self.shift, self._limit(other))

    def __ge__(self, other: Any) -> Any:
        return self._among(self._limit(other), self.shift + len(self.order))

    def __le__(self, other: Any) -> Any:
        return self._among(self.shift, -self._limit(-other) + 1)

    def __gt__(self, other: Any) -> Any:
        return self._among(-self._limit(-other) + 1, self.shift + len(self.order))

    def __eq__(self, other: object) -> Any:
        place = self._limit(other)
        return self._among(place, place + 1) if place == other else False

    def __ne__(self, other: object) -> Any:
        found = self == other
        return not found if isinstance(found, bool) else ~found

    def item(self) -> Standing:
        """The entry itself."""
        return self


def _are_places(values: tuple[Any, ...]) -> bool:
    return all(isinstance(each, int | np.integer) for each in values) and len(set(values)) == len(values)
