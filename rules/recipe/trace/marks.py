"""Entries at places that an order names: ``mask[np.argsort(s)[:k]] = True``, ``weights[chosen] = 1 / k``.

An entry p of the array becomes what it was, plus, for every place that is named, what stands beside the member with
that rank: the change if the member is p, else 0. The places have to be different ones whatever the input is; then it
does not matter which is written first.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import SymbolicArray, as_object, flat, has_symbols, plain, symbolic
from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Expression, Symbols, constant
from kappaguard.rules.recipe.trace.order import standing_at
from kappaguard.rules.recipe.trace.places import Ranked, Standing
from kappaguard.rules.recipe.trace.refusal import refuse

HINT = "build a new array with np.where"


class Mark(Condition):
    """Whether entry p of a mask is true: whether it is (or, inverted, is not) among the places that were named."""

    def __init__(self, places: tuple[Ranked, ...], entry: int, size: int, inverted: bool = False) -> None:
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

    def _with(self, kind: str, other: Any) -> Any:
        """With another mark of the same order: one mark again, of the places that both, or either of them, name."""
        if not isinstance(other, Mark) or other.entry != self.entry or other.size != self.size:
            return super()._with(kind, other)
        if not are_different((*{_name(each): each for each in (*self.places, *other.places)}.values(),), self.size):
            return super()._with(kind, other)
        if kind == "or":
            return ~(~self)._with("and", ~other)
        mine, others = ({_name(each): each for each in mark.places} for mark in (self, other))
        if self.inverted and other.inverted:
            return Mark((*(mine | others).values(),), self.entry, self.size, True)
        if self.inverted:
            mine, others = others, mine
        kept = [each for name, each in mine.items() if (name in others) != (self.inverted or other.inverted)]
        return Mark((*kept,), self.entry, self.size) if kept else False

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
        if not isinstance(each, Mark) or each.inverted != first.inverted or each.entry != entry:
            return None
        if each.places is not first.places and list(map(_name, each.places)) != list(map(_name, first.places)):
            return None
    return first


def total_of(rows: Any, mask: Mark) -> Any:
    """The sum of the rows that a mask takes."""
    named = sum(plain(rows[place]) for place in mask.places)
    return symbolic(plain(rows).sum(axis=0) - named if mask.inverted else named)


def write(array: SymbolicArray, index: Any, value: Any) -> None:
    """``array[index] = value`` where the index depends on the input."""
    keys = index if isinstance(index, tuple) else (index,)
    conditions = flat(index) if isinstance(index, np.ndarray | list) else []
    if conditions and all(isinstance(each, Condition | bool | np.bool_) for each in conditions):
        from kappaguard.rules.recipe.trace.functions import merged
        from kappaguard.rules.recipe.trace.ufuncs import each_entry

        if np.ndim(index) != array.ndim or np.ndim(value):
            refuse("a mask that depends on the input is written with more than one number", HINT)
        plain(array)[...] = plain(each_entry(merged, index, value, array))
    elif len(keys) == 1:
        _write_line(array, keys[0], value)
    elif array.ndim != 2 or len(keys) != 2 or sum(map(has_symbols, keys)) != 1 or np.ndim(value):
        refuse("an entry whose place depends on the input is overwritten", HINT)
    else:
        along = int(has_symbols(keys[1]))
        lines, places = np.broadcast_arrays(as_object(_as_array(keys[1 - along])), as_object(_as_array(keys[along])))
        by_line: dict[int, list[Any]] = {}
        for line, place in zip(lines.flat, places.flat, strict=True):
            by_line.setdefault(operator.index(line), []).append(place)
        for line, named in by_line.items():
            _write_line(symbolic(plain(array)[line] if along else plain(array)[:, line]), named, value)


def write_along(array: Any, index: Any, value: Any, axis: int) -> None:
    """``np.put_along_axis``: a line of the array after the other."""
    lines, places = np.moveaxis(plain(array), axis, -1), np.moveaxis(plain(index), axis, -1)
    places = np.broadcast_to(places, (*lines.shape[:-1], places.shape[-1]))
    values = np.broadcast_to(np.moveaxis(_as_array(value), axis, -1) if np.ndim(value) else value, places.shape)
    for where in np.ndindex(lines.shape[:-1]):
        line = lines[where].view(SymbolicArray)
        if has_symbols(list(places[where])):
            same = len({repr(each) for each in values[where]}) == 1
            _write_line(line, list(places[where]), values[where][0] if same else values[where])
        else:
            line[places[where].astype(int)] = values[where]


def _as_array(key: Any) -> Any:
    if isinstance(key, slice):
        refuse("a slice beside an index that depends on the input is overwritten", HINT)
    return key if isinstance(key, np.ndarray) else np.array(key, dtype=object)


def _write_line(array: SymbolicArray, index: Any, value: Any) -> None:
    places = tuple(flat(index)) if isinstance(index, np.ndarray | list) else (index,)
    if array.ndim != 1 or not all(isinstance(place, Ranked) for place in places) or np.ndim(value) > 1:
        refuse("an entry whose place depends on the input is overwritten", HINT)
    if not are_different(places, len(array)):
        refuse("places that depend on the input are written, and may be the same ones", HINT)
    entries = plain(array)
    if np.ndim(value) and is_order(places, len(entries)) and list(value) == list(range(len(entries))):
        for entry in range(len(entries)):
            entries[entry] = Standing(places, entry)
        return
    if isinstance(value, bool | np.bool_):
        if not all(isinstance(each, bool | np.bool_) and bool(each) is not bool(value) for each in entries):
            refuse("a mask is written a second time", "name all places at once")
        for entry in range(len(entries)):
            entries[entry] = Mark(places, entry, len(entries), not value)
        return
    values = list(value) if np.ndim(value) else [value] * len(places)
    for entry, before in enumerate(entries):
        symbols = places[0].symbols
        entries[entry] = before + sum(
            _beside(place, entry, each - before, symbols) for place, each in zip(places, values, strict=True)
        )


def marks(places: list[Any], entries: list[int], size: int) -> list[Any]:
    """For each of several entries, whether it is among places that depend on the input."""
    named = tuple(places)
    if not all(isinstance(place, Ranked) for place in named) or not are_different(named, size):
        refuse("places that depend on the input are looked through, and may be the same ones")
    return [Mark(named, entry, size) for entry in entries]


def is_order(places: tuple[Any, ...], size: int) -> bool:
    """Whether these are all the places of an order, by rank."""
    return (
        len(places) == size
        and all(isinstance(place, Ranked) and place.rank == rank for rank, place in enumerate(places))
        and all(place.values == tuple(range(size)) for place in places)
        and all(place.members == places[0].members for place in places)
        and all(member >= 0 for member in places[0].members)
    )


def _name(place: Ranked) -> tuple[Any, ...]:
    """Equal places have equal names."""
    return place.members, place.rank, place.values


def _beside(place: Ranked, entry: int, change: Any, symbols: Symbols) -> Any:
    beside = tuple(change if value == entry else 0 for value in place.values)
    return standing_at(place.members, place.rank, beside, symbols)


def are_different(places: tuple[Ranked, ...], size: int) -> bool:
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
