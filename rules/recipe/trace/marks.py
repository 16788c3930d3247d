"""Entries at places that an order names: ``mask[np.argsort(s)[:k]] = True``, ``weights[chosen] = 1 / k``.

An entry p of the array becomes what it was, plus, for every place that is named, what stands beside the member with
that rank: the change if the member is p, else 0. The places have to be different ones whatever the input is; then it
does not matter which is written first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import Ranked, SymbolicArray, flat, plain, symbolic
from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Expression, Symbols, constant
from kappaguard.rules.recipe.trace.order import standing_at
from kappaguard.rules.recipe.trace.refusal import refuse

HINT = "build a new array with np.where"


class Mark(Condition):
    """Whether entry p of a mask is true: whether it is (or, inverted, is not) among the places that were named."""

    def __init__(self, places: list[Ranked], entry: int, size: int, inverted: bool = False) -> None:
        self.places, self.entry, self.size, self.inverted = places, entry, size, inverted
        self.symbols: Symbols = places[0].symbols
        self.kind = "mark"

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal marks have equal keys."""
        return ("mark", self.indicator().key, None)

    @property
    def count(self) -> int:
        """How many entries of the mask are true."""
        return self.size - len(self.places) if self.inverted else len(self.places)

    def __invert__(self) -> Mark:
        return Mark(self.places, self.entry, self.size, not self.inverted)

    def indicator(self) -> Expression:
        """1 where it holds, else 0."""
        found = constant(int(self.inverted), self.symbols)
        for place in self.places:
            found = found + _beside(place, self.entry, -1 if self.inverted else 1, self.symbols)
        return found


def whole_mask(conditions: list[Any]) -> Mark | None:
    """The first mark, if these are all entries of one mask in their order."""
    first = conditions[0] if conditions else None
    if not isinstance(first, Mark) or len(conditions) != first.size:
        return None
    for entry, each in enumerate(conditions):
        if not isinstance(each, Mark) or each.places is not first.places or each.inverted != first.inverted:
            return None
        if each.entry != entry:
            return None
    return first


def total_of(rows: Any, mask: Mark) -> Any:
    """The sum of the rows that a mask takes."""
    named = sum(plain(rows[place]) for place in mask.places)
    return symbolic(plain(rows).sum(axis=0) - named if mask.inverted else named)


def write(array: SymbolicArray, index: Any, value: Any) -> None:
    """``array[index] = value`` where the index depends on the input."""
    places = flat(index) if isinstance(index, np.ndarray | list) else [index]
    if array.ndim != 1 or not all(isinstance(place, Ranked) for place in places) or np.ndim(value):
        refuse("an entry whose place depends on the input is overwritten", HINT)
    if not _are_different(places, len(array)):
        refuse("places that depend on the input are written, and may be the same ones", HINT)
    entries = plain(array)
    if isinstance(value, bool | np.bool_):
        if not all(isinstance(each, bool | np.bool_) and bool(each) is not bool(value) for each in entries):
            refuse("a mask is written a second time", "name all places at once")
        for entry in range(len(entries)):
            entries[entry] = Mark(places, entry, len(entries), not value)
        return
    for entry, before in enumerate(entries):
        change = value - before
        symbols = places[0].symbols
        entries[entry] = before + sum(_beside(place, entry, change, symbols) for place in places)


def _beside(place: Ranked, entry: int, change: Any, symbols: Symbols) -> Any:
    beside = tuple(change if value == entry else 0 for value in place.values)
    return standing_at(place.members, place.rank, beside, symbols)


def _are_different(places: list[Ranked], size: int) -> bool:
    """Whether no two of the places can be one: other ranks of one order, or other parts of one choice."""
    first = places[0]
    if any(not isinstance(value, int | np.integer) or not 0 <= value < size for p in places for value in p.values):
        return False
    if any(place.members != first.members for place in places):
        return False
    ranks = {place.rank for place in places}
    if len(ranks) == len(places):
        same = all(place.values == first.values for place in places)
        return same and len(set(first.values)) == len(first.values)
    columns = zip(*(place.values for place in places), strict=True)
    return len(ranks) == 1 and all(len(set(column)) == len(places) for column in columns)
