"""The array that stands in for the input: objects inside, NumPy's shapes and slices outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Expression, Symbols
from kappaguard.rules.recipe.trace.order import standing_at
from kappaguard.rules.recipe.trace.places import Ranked, Standing
from kappaguard.rules.recipe.trace.refusal import refuse

FLOAT = np.dtype(np.float64)


class Chosen:
    """The rows for which a condition holds: how many is left open until they are added up or averaged."""

    def __init__(self, rows: SymbolicArray, conditions: list[Any]) -> None:
        from kappaguard.rules.recipe.trace.marks import whole_mask

        self.rows, self.conditions = rows, conditions
        self.mask = whole_mask(conditions)

    def without_one(self) -> Any:
        """All rows but one, where it is that: an array again, as ``np.delete`` leaves it."""
        if self.mask is None or not self.mask.inverted or len(self.mask.places) > 1:
            return self
        (place,) = self.mask.places
        entries = all(isinstance(each, Expression) for each in self.rows.flat)
        certain = isinstance(place.rank, int) and place.values == tuple(range(len(self.rows)))
        return summary_of(np.delete)(self.rows, place, 0) if entries and certain else self

    def _weights(self) -> list[Any]:
        return [each.indicator() if isinstance(each, Condition) else int(bool(each)) for each in self.conditions]

    def sum(self, axis: int | None = None, **_: Any) -> Any:
        """The sum over the chosen rows."""
        self._first(axis)
        if self.mask is not None:
            from kappaguard.rules.recipe.trace.marks import total_of

            return total_of(self.rows, self.mask)
        return symbolic(sum(weight * row for weight, row in zip(self._weights(), plain(self.rows), strict=True)))

    def mean(self, axis: int | None = None, **_: Any) -> Any:
        """The mean of the chosen rows."""
        total, count = plain(Chosen.sum(self, axis)), self._count
        return symbolic(total / count)

    def _first(self, axis: int | None) -> None:
        if axis not in (0, -self.rows.ndim) and self.rows.ndim > 1:
            refuse("what a mask chose is reduced along another axis than the first")

    @property
    def _count(self) -> Any:
        return sum(self._weights()) if self.mask is None else self.mask.count

    def __len__(self) -> int:
        if self.mask is not None:
            return self.mask.count
        refuse("how many a mask chooses depends on the input", "sort, and take a fixed number")

    @property
    def shape(self) -> Any:
        """The shape, whose first entry is an expression where it is left open how many rows are chosen."""
        return (self._count, *self.rows.shape[1:])

    def __array__(self, *_: Any, **__: Any) -> Any:
        refuse("what a mask chose is used as an array", "only sum and mean of it are known")

    def __iter__(self) -> Any:
        refuse("what a mask chose is gone through one by one", "only sum and mean of it are known")

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int and key in (0, -1) and self.mask is not None and self.mask.count == 1:
            return self.sum(0)
        refuse("single entries are taken of what a mask chose", "only sum and mean of it are known")

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        name = getattr(function, "__name__", "")
        if name in ("mean", "sum", "average") and args and args[0] is self:
            return (self.sum if name == "sum" else self.mean)(*args[1:2], **options)
        if name in ("stack", "vstack") and args[0] is self and options.get("axis", *args[1:2] or (0,)) == 0:
            return self
        refuse(f"np.{name} of what a mask chose", "only sum and mean of it are known")


class CutRows:
    """What stands before, or behind, a place: both together are the rows without that one."""

    def __init__(self, rows: SymbolicArray, key: slice) -> None:
        size = len(rows)
        self.rows, self.before = rows, isinstance(key.stop, Ranked)
        self.place = key.stop if self.before else key.start - 1
        if (key.start not in (None, 0) if self.before else key.stop is not None) or key.step is not None:
            refuse("a slice whose length depends on the input", "np.delete drops one")
        if self.place.values != tuple(range(size)):
            refuse("a slice whose length depends on the input", "np.delete drops one")


def joined(parts: Any, axis: int) -> Any:
    """Parts before and behind one place, joined."""
    match list(parts):
        case [CutRows(before=True) as first, CutRows(before=False) as second] if axis == 0:
            same = first.rows is second.rows or [e.key for e in first.rows.flat] == [e.key for e in second.rows.flat]
            places = (first.place.members, first.place.rank) == (second.place.members, second.place.rank)
            if same and places:
                return summary_of(np.delete)(first.rows, first.place, 0)
    refuse("slices whose lengths depend on the input are joined", "np.delete drops one")


class SymbolicArray(np.ndarray):
    """An object array of expressions, places and conditions, and of plain numbers between them."""

    @property
    def dtype(self) -> Any:
        """That of floats, as which it is handed over."""
        return FLOAT

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from kappaguard.rules.recipe.trace.functions import meaning_of

        summary = meaning_of(function)
        if summary is not None:
            return summary(*args, **options)
        if function.__module__.startswith(("numpy.linalg", "numpy.fft", "numpy.polynomial")):
            refuse(f"np.linalg.{function.__name__} has no exact meaning here", "norms and products of matrices have")
        found = super().__array_function__(function, (SymbolicArray,), args, options)
        return symbolic(found) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from kappaguard.rules.recipe.trace.ufuncs import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, Chosen) and list(flat(key.rows)) == list(range(len(self))):
            return Chosen(self, key.conditions)
        if isinstance(key, slice) and (isinstance(key.start, Ranked) or isinstance(key.stop, Ranked)):
            return CutRows(self, key)
        keys = list(key) if isinstance(key, tuple) else [key]
        where = [place for place, each in enumerate(keys) if has_symbols(each)]
        if not where:
            return super().__getitem__(_plain_key(key))
        if len(where) > 1:
            refuse("two indices at once depend on the input", "select one axis after the other")
        index = keys[where[0]]
        if any(isinstance(each, list | np.ndarray) for place, each in enumerate(keys) if place != where[0]):
            return self._paired(keys)
        if isinstance(index, np.ndarray | list) and any(isinstance(each, Condition) for each in flat(index)):
            if len(keys) > 1:
                refuse("a mask that depends on the input is one of several indices")
            conditions = flat(index)
            if np.ndim(index) != 1 or len(conditions) != len(self):
                refuse("a mask that depends on the input chooses single entries", "multiply with it, or use np.where")
            return Chosen(self, conditions).without_one()
        return self._selected(keys, where[0], index)

    def _paired(self, keys: list[Any]) -> Any:
        """Index arrays beside each other are paired, entry by entry."""
        if any(isinstance(each, slice) or each is None or each is Ellipsis for each in keys):
            refuse(
                "index arrays, slices and an index that depends on the input in one", "select one axis after the other"
            )
        from kappaguard.rules.recipe.trace.ufuncs import entrywise

        return entrywise(lambda *each: self[tuple(each)], *keys)

    def _selected(self, keys: list[Any], where: int, index: Any) -> Any:
        """What stands at places of one axis."""
        if isinstance(index, Ranked):
            rows = [plain(self[(*keys[:where], _plain_key(value), *keys[where + 1 :])]) for value in index.values]
            return chosen_of(index, rows)
        if isinstance(index, Standing):
            refuse("vectors are put into an order by their ranks", "take them by argsort")
        leading = sum(not isinstance(key, int | np.integer) for key in keys[:where])
        if any(key is None or key is Ellipsis for key in keys[:where]):
            refuse("an unusual index beside one that depends on the input")
        parts = [plain(self._selected(keys, where, each)) for each in index]
        return symbolic(np.stack([as_object(part) for part in parts], axis=leading))

    def __setitem__(self, key: Any, value: Any) -> None:
        keys = key if isinstance(key, tuple) else (key,)
        if any(has_symbols(each) for each in keys):
            from kappaguard.rules.recipe.trace.marks import write

            write(self, key, value)
            return
        super().__setitem__(_plain_key(key), plain(value) if isinstance(value, np.ndarray) else value)

    def astype(self, dtype: Any = None, *_: Any, **__: Any) -> SymbolicArray:
        """A copy: numbers are exact here."""
        return converted(self, dtype)

    def sort(self, axis: int = -1, **options: Any) -> None:  # type: ignore[override]
        """Sort in place."""
        self[...] = summary_of(np.sort)(self, axis, **options)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> None:  # type: ignore[override]
        """Partition in place."""
        self[...] = summary_of(np.partition)(self, kth, axis, **options)


def _method(function: Any) -> Callable[..., Any]:
    def method(self: SymbolicArray, *args: Any, **options: Any) -> Any:
        return summary_of(function)(self, *args, **options)

    return method


def summary_of(function: Any) -> Callable[..., Any]:
    """The meaning of a function that is known to have one."""
    from kappaguard.rules.recipe.trace.functions import known_meaning_of

    return known_meaning_of(function)


for _function, _name in (
    (np.argsort, "argsort"),
    (np.argpartition, "argpartition"),
    (np.argmin, "argmin"),
    (np.argmax, "argmax"),
    (np.min, "min"),
    (np.max, "max"),
    (np.clip, "clip"),
    (np.take, "take"),
    (np.nonzero, "nonzero"),
    (np.any, "any"),
    (np.all, "all"),
    (np.round, "round"),
    (np.cumsum, "cumsum"),
    (np.var, "var"),
    (np.std, "std"),
):
    setattr(SymbolicArray, _name, _method(_function))


def is_object(array: Any) -> bool:
    """Whether an array holds objects, whatever it says about itself."""
    return bool(np.ndarray.dtype.__get__(array).kind == "O")


def require_float(dtype: Any) -> None:
    """Refuse a conversion to anything but real floats."""
    if dtype is None or dtype is object:
        return
    try:
        kind = np.dtype(dtype).kind
    except TypeError:
        kind = "f" if getattr(dtype, "is_floating_point", False) else "?"
    if kind not in "fO":
        refuse(f"values are converted to {dtype}", "whole numbers are not piecewise linear in the input")


def converted(array: SymbolicArray, dtype: Any) -> SymbolicArray:
    """A copy: numbers are exact here, and places, ranks and conditions are whole numbers as they are."""
    if any(isinstance(each, Expression | float) for each in flat(array)):
        require_float(dtype)
    return array.copy()


def has_symbols(value: Any) -> bool:
    """Whether an index is, or has in it, something that depends on the input."""
    if isinstance(value, Ranked | Standing | Condition | Expression):
        return True
    if isinstance(value, np.ndarray):
        return is_object(value) and any(has_symbols(each) for each in value.flat)
    return isinstance(value, list | tuple) and any(has_symbols(each) for each in value)


def plain(array: Any) -> Any:
    """The object array without our class around it."""
    return array.view(np.ndarray) if isinstance(array, np.ndarray) else array


def symbolic(array: Any) -> Any:
    """An array of our class; a single object as itself."""
    if not isinstance(array, np.ndarray):
        return array
    if array.ndim == 0:
        return array[()]
    return as_object(array).view(SymbolicArray)


def as_object(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return plain(value).astype(object, copy=False)
    single = np.empty((), dtype=object)
    single[()] = value
    return single


def flat(value: Any) -> list[Any]:
    """Its entries one after the other."""
    return list(plain(value).flat) if isinstance(value, np.ndarray) else list(value)


def _plain_key(key: Any) -> Any:
    """An index array that came out as objects, as whole numbers or booleans."""
    if isinstance(key, tuple):
        return tuple(map(_plain_key, key))
    if isinstance(key, SymbolicArray):
        values = plain(key)
        kind = bool if all(isinstance(each, bool | np.bool_) for each in values.flat) else int
        return values.astype(kind)
    return key


def chosen_of(index: Ranked, parts: list[Any]) -> Any:
    """Entry by entry, what stands at a place, of parts of one shape; parts that are places stay places."""
    if not isinstance(parts[0], np.ndarray):
        if any(isinstance(part, Ranked) for part in parts):
            refuse("an index is selected by another index that depends on the input")
        return standing_at(index.members, index.rank, tuple(parts), index.symbols)
    found = np.empty(parts[0].shape, dtype=object)
    for where in np.ndindex(found.shape):
        found[where] = standing_at(index.members, index.rank, tuple(part[where] for part in parts), index.symbols)
    return symbolic(found)


def symbols_in(*values: Any) -> Symbols | None:
    """The symbols of the first entry that has any."""
    for value in values:
        if isinstance(value, Expression | Condition | Ranked | Standing):
            return value.symbols
        if isinstance(value, np.ndarray) and not is_object(value):
            continue
        if isinstance(value, np.ndarray | list | tuple):
            found = symbols_in(*(value.flat if isinstance(value, np.ndarray) else value))
            if found is not None:
                return found
    return None
