"""The array that stands in for the input: objects inside, NumPy's shapes and slices outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.expression import (
    Condition,
    Expression,
    Rank,
    Symbols,
    compare,
    family,
    is_nonnegative,
    least,
    standing_at,
)
from kappaguard.rules.recipe.trace.refusal import refuse

FLOAT = np.dtype(np.float64)
DECIDE = "compare with np.where, masks, sort or argsort, or write it as `if ...:` with plain assignments"


class Place:
    """One of several values, and which one depends on an order: ``values[j]`` if member j of the family has the rank.

    An argmin is a place with the values 0 .. n - 1; the best of several subsets one whose values are tuples.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, symbols: Symbols, members: tuple[int, ...], rank: Rank, values: Sequence[Any]) -> None:
        self.symbols, self.members, self.rank, self.values = symbols, members, rank, tuple(values)

    def with_values(self, values: Sequence[Any]) -> Place:
        """The same order with other values."""
        return Place(self.symbols, self.members, self.rank, values)

    def __len__(self) -> int:
        sizes = {len(value) for value in self.values}
        if len(sizes) != 1:
            refuse("how many are selected depends on the input")
        return sizes.pop()

    def __iter__(self) -> Iterator[Place]:
        return (self.with_values([value[place] for value in self.values]) for place in range(len(self)))

    def __getitem__(self, place: Any) -> Place:
        return self.with_values([value[place] for value in self.values])

    def _plain(self) -> Any:
        refuse("an index that depends on the input is turned into a plain number", "use it as an index, as it is")

    __index__ = __int__ = __bool__ = __float__ = _plain

    def __eq__(self, other: object) -> Any:
        refuse("an index that depends on the input is compared")

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

    def item(self) -> Place:
        """Itself."""
        return self

    def tolist(self) -> Place:
        """Itself."""
        return self


class Chosen:
    """The rows for which a condition holds: how many is left open until they are added up or averaged."""

    def __init__(self, rows: SymbolicArray, conditions: list[Any]) -> None:
        self.rows, self.conditions = rows, conditions

    def _weights(self) -> list[Any]:
        return [each.indicator() if isinstance(each, Condition) else int(bool(each)) for each in self.conditions]

    def sum(self, axis: int | None = None, **_: Any) -> Any:
        """The sum over the chosen rows."""
        self._first(axis)
        return symbolic(sum(weight * row for weight, row in zip(self._weights(), plain(self.rows), strict=True)))

    def mean(self, axis: int | None = None, **_: Any) -> Any:
        """Their mean."""
        total, count = plain(self.sum(axis)), sum(self._weights())
        return symbolic(_each(lambda value: value / count, total))

    def _first(self, axis: int | None) -> None:
        if axis not in (0, -self.rows.ndim) and self.rows.ndim > 1:
            refuse("what a mask chose is reduced along another axis than the first")

    def __len__(self) -> int:  # noqa: PLE0303
        refuse("how many a mask chooses depends on the input", "sort, and take a fixed number")

    @property
    def shape(self) -> Any:
        """Left open."""
        return (sum(self._weights()), *self.rows.shape[1:])

    def __array__(self, *_: Any, **__: Any) -> Any:
        refuse("what a mask chose is used as an array", "only sum and mean of it are known")

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        name = getattr(function, "__name__", "")
        if name in ("mean", "sum", "average") and args and args[0] is self:
            return (self.sum if name == "sum" else self.mean)(*args[1:2], **options)
        refuse(f"np.{name} of what a mask chose", "only sum and mean of it are known")


class SymbolicArray(np.ndarray):
    """An object array of expressions, places and conditions, and of plain numbers between them."""

    @property
    def dtype(self) -> Any:
        """That of floats, as which it is handed over."""
        return FLOAT

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from kappaguard.rules.recipe.trace.functions import SUMMARIES

        summary = SUMMARIES.get(function)
        if summary is not None:
            return summary(*args, **options)
        if function.__module__.startswith(("numpy.linalg", "numpy.fft", "numpy.polynomial")):
            refuse(f"np.linalg.{function.__name__} has no exact meaning here", "norms and products of matrices have")
        found = super().__array_function__(function, (SymbolicArray,), args, options)
        return symbolic(found) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return apply_ufunc(ufunc, method, inputs, options)

    def __getitem__(self, key: Any) -> Any:
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
            return Chosen(self, conditions)
        return self._selected(keys, where[0], index)

    def _paired(self, keys: list[Any]) -> Any:
        """Index arrays beside each other are paired, entry by entry."""
        if any(isinstance(each, slice) or each is None or each is Ellipsis for each in keys):
            refuse(
                "index arrays, slices and an index that depends on the input in one", "select one axis after the other"
            )
        return entrywise(lambda *each: self[tuple(each)], *keys)

    def _selected(self, keys: list[Any], where: int, index: Any) -> Any:
        """What stands at places of one axis."""
        if isinstance(index, Place):
            rows = [plain(self[(*keys[:where], _plain_key(value), *keys[where + 1 :])]) for value in index.values]
            return chosen_of(index, rows)
        leading = sum(not isinstance(key, int | np.integer) for key in keys[:where])
        if any(key is None or key is Ellipsis for key in keys[:where]):
            refuse("an unusual index beside one that depends on the input")
        parts = [plain(self._selected(keys, where, each)) for each in index]
        return symbolic(np.stack([_as_object(part) for part in parts], axis=leading))

    def __setitem__(self, key: Any, value: Any) -> None:
        keys = key if isinstance(key, tuple) else (key,)
        if any(has_symbols(each) for each in keys):
            refuse("an entry whose place depends on the input is overwritten", "build a new array with np.where")
        super().__setitem__(_plain_key(key), plain(value) if isinstance(value, np.ndarray) else value)

    def astype(self, dtype: Any = None, *_: Any, **__: Any) -> SymbolicArray:
        """A copy: numbers are exact here."""
        require_float(dtype)
        return self.copy()

    def sort(self, axis: int = -1, **options: Any) -> None:  # type: ignore[override]
        """Sort in place."""
        self[...] = _summary(np.sort)(self, axis, **options)

    def partition(self, kth: Any, axis: int = -1, **options: Any) -> None:  # type: ignore[override]
        """Partition in place."""
        self[...] = _summary(np.partition)(self, kth, axis, **options)


def _method(function: Any) -> Callable[..., Any]:
    def method(self: SymbolicArray, *args: Any, **options: Any) -> Any:
        return _summary(function)(self, *args, **options)

    return method


def _summary(function: Any) -> Callable[..., Any]:
    from kappaguard.rules.recipe.trace.functions import SUMMARIES

    return SUMMARIES[function]


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


def has_symbols(value: Any) -> bool:
    """Whether an index is, or has in it, something that depends on the input."""
    if isinstance(value, Place | Condition | Expression):
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
    return _as_object(array).view(SymbolicArray)


def _as_object(value: Any) -> Any:
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


def chosen_of(index: Place, parts: list[Any]) -> Any:
    """Entry by entry, what stands at a place, of parts of one shape; parts that are places stay places."""
    if not isinstance(parts[0], np.ndarray):
        if any(isinstance(part, Place) for part in parts):
            refuse("an index is selected by another index that depends on the input")
        return standing_at(index.members, index.rank, tuple(parts), index.symbols)
    found = np.empty(parts[0].shape, dtype=object)
    for where in np.ndindex(found.shape):
        found[where] = standing_at(index.members, index.rank, tuple(part[where] for part in parts), index.symbols)
    return symbolic(found)


def symbols_in(*values: Any) -> Symbols | None:
    """The symbols of the first entry that has any."""
    for value in values:
        if isinstance(value, Expression | Condition | Place):
            return value.symbols
        if isinstance(value, np.ndarray) and not is_object(value):
            continue
        if isinstance(value, np.ndarray | list | tuple):
            found = symbols_in(*(value.flat if isinstance(value, np.ndarray) else value))
            if found is not None:
                return found
    return None


def _each(function: Callable[..., Any], *arrays: Any) -> Any:
    """A function entry by entry, with broadcasting."""
    given = np.broadcast_arrays(*[_as_object(array) for array in arrays])
    found = np.empty(given[0].shape, dtype=object)
    for where in np.ndindex(found.shape):
        found[where] = function(*[array[where] for array in given])
    return found


def entrywise(function: Callable[..., Any], *arrays: Any) -> Any:
    """The same, as our array; as plain booleans where nothing depends on the input."""
    found = _each(function, *arrays)
    if all(isinstance(each, bool | np.bool_) for each in found.flat):
        return found.astype(bool) if found.ndim else bool(found[()])
    return symbolic(found)


def _ordered(left: Any, right: Any, kind: str) -> Any:
    if isinstance(left, Expression) or isinstance(right, Expression):
        found = compare(left, right, kind)
        if found is NotImplemented:
            refuse(f"a {type(left).__name__} is compared with a {type(right).__name__}")
        return found
    if isinstance(left, Place | Condition) or isinstance(right, Place | Condition):
        refuse("an index or a condition is compared with a number")
    return {"<": left < right, "<=": left <= right, "==": left == right}[kind]


def smaller(left: Any, right: Any) -> Any:
    """The smaller of two."""
    return _extreme(left, right, 0)


def larger(left: Any, right: Any) -> Any:
    """The larger of two; values that can be seen to be non-negative are not smaller than zero."""
    return _extreme(left, right, 1)


def _extreme(left: Any, right: Any, rank: int) -> Any:
    symbols = symbols_in(left, right)
    if symbols is None:
        return max(left, right) if rank else min(left, right)
    for one, other in ((left, right), (right, left)):
        if not isinstance(other, Expression | Condition) and other == 0 and is_nonnegative(one):
            return one if rank else other
        if not isinstance(other, Expression | Condition) and abs(other) == np.inf:
            return one if (other > 0) != bool(rank) else other
    members, rooted = family([left, right], symbols)
    return least(members, rank, rooted, symbols)


def _not(value: Any) -> Any:
    return ~value if isinstance(value, Condition) else not value


ENTRYWISE: dict[str, Callable[..., Any]] = {
    "less": lambda a, b: _ordered(a, b, "<"),
    "less_equal": lambda a, b: _ordered(a, b, "<="),
    "greater": lambda a, b: _ordered(b, a, "<"),
    "greater_equal": lambda a, b: _ordered(b, a, "<="),
    "equal": lambda a, b: _ordered(a, b, "=="),
    "not_equal": lambda a, b: _not(_ordered(a, b, "==")),
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_not": _not,
    "invert": _not,
    "maximum": larger,
    "fmax": larger,
    "minimum": smaller,
    "fmin": smaller,
    "absolute": abs,
    "fabs": abs,
    "sqrt": lambda a: a.sqrt() if isinstance(a, Expression) else np.sqrt(float(a)),
    "square": lambda a: a * a,
    "conjugate": lambda a: a,
    "positive": lambda a: a,
    "isfinite": lambda a: True if isinstance(a, Expression) else bool(np.isfinite(a)),
    "isnan": lambda a: False if isinstance(a, Expression) else bool(np.isnan(a)),
    "isinf": lambda a: False if isinstance(a, Expression) else bool(np.isinf(a)),
}
ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "power", "float_power", "matmul", "vecdot"}
ARITHMETIC |= {"bitwise_and", "bitwise_or", "true_divide", "floor_divide", "remainder"}


def apply_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A ufunc on symbols: arithmetic by the objects themselves, comparisons as conditions."""
    name = ufunc.__name__
    out = options.pop("out", None)
    require_float(options.pop("dtype", None))
    options.pop("casting", None)
    if method == "reduce" and name in ("maximum", "minimum"):
        if options.get("where", True) is not True or options.get("initial", np._NoValue) is not np._NoValue:
            refuse(f"np.{name}.reduce with where or initial")
        found = _summary(np.max if name == "maximum" else np.min)(
            inputs[0], **{key: value for key, value in options.items() if key in ("axis", "keepdims")}
        )
    elif method == "__call__" and name in ENTRYWISE and options.get("where", True) is True:
        found = entrywise(ENTRYWISE[name], *inputs)
    elif name in ARITHMETIC and method in ("__call__", "reduce", "outer", "accumulate"):
        values = [_operand(value) for value in inputs]
        found = getattr(ufunc, method)(*values, **options)
    else:
        refuse(f"np.{name}{'' if method == '__call__' else '.' + method} has no exact meaning here")
    found = symbolic(found)
    if out is None:
        return found
    target = out[0]
    if not is_object(target):
        refuse("the result is written into an array of plain floats")
    plain(target)[...] = plain(found)
    return target


def _operand(value: Any) -> Any:
    """For arithmetic: conditions count as 0 and 1."""
    if isinstance(value, Condition):
        return value
    return (
        plain(value) if isinstance(value, np.ndarray) else _as_object(value) if isinstance(value, Expression) else value
    )
