"""What NumPy functions that compare, order or choose do to symbolic arrays.

Everything else works on the objects themselves: sums, means, products, slices, transpositions, stacking.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import Chosen, flat, has_symbols, plain, symbolic
from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Expression, Rank, Symbols, simplest
from kappaguard.rules.recipe.trace.marks import is_order, marks, write_along
from kappaguard.rules.recipe.trace.order import family, least
from kappaguard.rules.recipe.trace.places import Ranked, Standing
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.summaries import SUMMARIES, along, arrays, single, stacked, summary
from kappaguard.rules.recipe.trace.ufuncs import entrywise, larger, smaller


def meaning_of(function: Any) -> Callable[..., Any] | None:
    """What a function does to symbolic arrays; None if it works on the objects themselves."""
    return SUMMARIES.get(function)


def known_meaning_of(function: Any) -> Callable[..., Any]:
    """What a function that has a meaning does to symbolic arrays."""
    return SUMMARIES[function]


def _values(values: list[Any], symbols: Symbols, ranks: list[Rank]) -> list[Any]:
    if is_order(tuple(values), len(values)):
        values = list(range(len(values)))
    if not any(isinstance(value, Expression | Condition) for value in values):
        ordered = sorted(values)
        return [ordered[rank if isinstance(rank, int) else rank[0] + rank[2]] for rank in ranks]
    members, rooted = family(values, symbols)
    return [least(members, rank, rooted, symbols) for rank in ranks]


def _places(values: list[Any], symbols: Symbols, ranks: list[Rank]) -> list[Any]:
    if is_order(tuple(values), len(values)) and ranks == list(range(len(values))):
        return [Standing(tuple(values), entry) for entry in range(len(values))]
    members, _ = family(values, symbols)
    return [Ranked(symbols, members, rank, range(len(values))) for rank in ranks]


def _ranks(size: int, kth: Any) -> list[Rank]:
    """Ranks after a partition: certain at the places kth, left open between them."""
    certain = sorted({int(each) % size for each in np.atleast_1d(kth)})
    found: list[Rank] = []
    low = 0
    for stop in (*certain, size):
        width = stop - low
        found += [low] if width == 1 else [(low, stop, place) for place in range(width)]
        if stop < size:
            found.append(stop)
        low = stop + 1
    return found


@summary(np.sort)
def _sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return along(lambda values, symbols: _values(values, symbols, list(range(len(values)))), a, axis)


@summary(np.argsort)
def _argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return along(lambda values, symbols: _places(values, symbols, list(range(len(values)))), a, axis)


@summary(np.partition)
def _partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return along(lambda values, symbols: _values(values, symbols, _ranks(len(values), kth)), a, axis)


@summary(np.argpartition)
def _argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    return along(lambda values, symbols: _places(values, symbols, _ranks(len(values), kth)), a, axis)


@summary(np.argmin)
def _argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return single(lambda values, symbols: _places(values, symbols, [0])[0], a, axis, keepdims)


@summary(np.argmax)
def _argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return single(lambda values, symbols: _places(values, symbols, [len(values) - 1])[0], a, axis, keepdims)


@summary(np.min, np.amin, np.nanmin)
def _min(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
    return _over_axes(lambda values, symbols: _values(values, symbols, [0])[0], a, axis, keepdims)


@summary(np.max, np.amax, np.nanmax)
def _max(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
    return _over_axes(lambda values, symbols: _values(values, symbols, [len(values) - 1])[0], a, axis, keepdims)


def _over_axes(function: Callable[[list[Any], Symbols], Any], array: Any, axis: Any, keepdims: Any) -> Any:
    if isinstance(axis, tuple):
        array = arrays(array)
        rest = [each for each in range(array.ndim) if each not in {other % array.ndim for other in axis}]
        moved = plain(array).transpose(*rest, *[other % array.ndim for other in axis])
        array, axis = symbolic(moved.reshape(*moved.shape[: len(rest)], -1)), -1
    return single(function, array, axis, keepdims)


@summary(np.median, np.nanmedian)
def _median(
    a: Any, axis: int | None = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    def middle(values: list[Any], symbols: Symbols) -> Any:
        n = len(values)
        low, high = _values(values, symbols, [(n - 1) // 2, n // 2])
        return low if n % 2 else (low + high) / 2

    return single(middle, a, axis, keepdims)


def _quantile_of(percent: int) -> Callable[..., Any]:
    def quantile(
        a: Any, q: Any, axis: int | None = None, *_: Any, method: str = "linear", keepdims: Any = False, **__: Any
    ) -> Any:
        if method != "linear":
            refuse(f"a quantile by the method {method}", "the method linear is known")

        def one(share: Any) -> Any:
            part = simplest(float(share)) / percent

            def value(values: list[Any], symbols: Symbols) -> Any:
                place = part * (len(values) - 1)
                low = math.floor(place)
                first, second = _values(values, symbols, [low, min(low + 1, len(values) - 1)])
                weight = Fraction(place - low)
                return first if weight == 0 else first * (1 - weight) + second * weight

            return single(value, a, axis, keepdims)

        return one(q) if np.ndim(q) == 0 else symbolic(np.stack([plain(one(share)) for share in np.ravel(q)]))

    return quantile


summary(np.quantile, np.nanquantile)(_quantile_of(1))
summary(np.percentile, np.nanpercentile)(_quantile_of(100))


@summary(np.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return _nonzero(condition)
    return entrywise(merged, condition, x, y)


def merged(condition: Any, left: Any, right: Any) -> Any:
    """``left`` where the condition holds, else ``right``."""
    if isinstance(condition, Expression):
        condition = condition != 0
    if not isinstance(condition, Condition):
        return left if condition else right
    if left is right:
        return left
    for each in (left, right):
        if isinstance(each, float) and math.isinf(each):
            refuse("whether a value is infinite depends on the input", "select with argsort instead")
    weight = condition.indicator()
    return weight * left + (1 - weight) * right


@summary(np.nonzero)
def _nonzero(a: Any) -> Any:
    return (_flatnonzero(a),)


@summary(np.flatnonzero, np.argwhere)
def _flatnonzero(a: Any) -> Any:
    if np.ndim(a) != 1:
        refuse(
            "the places where a condition holds are listed, and how many depends on the input", "use the mask itself"
        )
    return Chosen(symbolic(np.arange(len(a))), flat(a))


@summary(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    low, high = options.get("min", a_min), options.get("max", a_max)
    found = a
    if low is not None:
        found = entrywise(larger, found, low)
    return found if high is None else entrywise(smaller, found, high)


@summary(np.take)
def _take(a: Any, indices: Any, axis: int | None = None, **_: Any) -> Any:
    array = arrays(a)
    if axis is None:
        array, axis = array.reshape(-1), 0
    return array[(*[slice(None)] * (axis % array.ndim), indices)]


@summary(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    array, index = arrays(arr), arrays(indices)
    if axis is None:
        return array.reshape(-1)[index.reshape(-1)]
    axis %= array.ndim
    values, places = np.moveaxis(plain(array), axis, -1), np.moveaxis(plain(index), axis, -1)
    shape = np.broadcast_shapes(values.shape[:-1], places.shape[:-1])
    values = np.broadcast_to(values, (*shape, values.shape[-1]))
    places = np.broadcast_to(places, (*shape, places.shape[-1]))
    found = np.empty(places.shape, dtype=object)
    for where in np.ndindex(shape):
        found[where] = plain(symbolic(values[where].copy())[list(places[where])])
    return symbolic(np.moveaxis(found, -1, axis))


@summary(np.delete)
def _delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    array = arrays(arr)
    if not has_symbols(obj):
        return symbolic(np.delete(plain(array), obj, axis))
    if (axis is None or axis % array.ndim != 0) and array.ndim > 1:
        refuse("an entry whose place depends on the input is deleted along another axis than the first")
    if isinstance(obj, np.ndarray | list) and len(obj) == 1:
        obj = flat(obj)[0]
    if isinstance(obj, np.ndarray | list):
        return Chosen(array, [~each for each in marks(flat(obj), list(range(len(array))), len(array))])
    if not isinstance(obj, Ranked) or not isinstance(obj.rank, int) or obj.values != tuple(range(len(array))):
        refuse("what is deleted is not one argmin or argmax of all", "delete one at a time, or keep with argsort")
    symbols = obj.symbols
    values = plain(array)
    found = np.empty((len(values) - 1, *values.shape[1:]), dtype=object)
    for where in np.ndindex(values.shape[1:]):
        pairs = sorted((member, values[(place, *where)].key) for place, member in enumerate(obj.members) if member >= 0)
        aligned = tuple(member for member, _ in pairs), tuple(key for _, key in pairs)
        for place in range(len(values) - 1):
            number = symbols.atom("rest", aligned[0], obj.rank, place, aligned[1])
            found[(place, *where)] = Expression(symbols, {(number,): 1})
    return symbolic(found)


@summary(np.put_along_axis)
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int) -> None:
    write_along(arr, indices, values, axis)


@summary(np.isin)
def _isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    if has_symbols(element):
        refuse("places that depend on the input are looked up")
    entries = [operator.index(each) for each in flat(np.asarray(element).reshape(-1))]
    found = marks(flat(stacked(test_elements)), entries, max(entries) + 1)
    return symbolic(np.array([~each if invert else each for each in found], dtype=object).reshape(np.shape(element)))


@summary(np.lexsort)
def _lexsort(keys: Any, axis: int = -1) -> Any:
    if len(keys) != 1:
        refuse("vectors are ordered by more than one key")
    return _argsort(keys[0], axis)


@summary(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    array = arrays(x)
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and array.ndim > 1) or isinstance(axis, tuple):
        refuse(f"the norm of order {ord}", "the Euclidean norm of vectors is known")
    return np.sqrt((array * array).sum(axis=axis, keepdims=keepdims))


@summary(np.average)
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, **_: Any) -> Any:
    if isinstance(a, Chosen):
        return a.mean(axis)
    if weights is None:
        return np.mean(arrays(a), axis=axis)
    array, weight = arrays(a), plain(stacked(weights)).astype(object)
    shape = weight.reshape((-1, *[1] * (array.ndim - 1))) if axis == 0 else weight
    total = weight.sum()
    return (array * symbolic(shape)).sum(axis=axis) / total


@summary(np.var, np.nanvar)
def _var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: Any = False, **_: Any
) -> Any:
    array = arrays(a)
    size = array.size if axis is None else array.shape[axis]
    total = array.sum(axis=axis, keepdims=keepdims)
    return ((array * array).sum(axis=axis, keepdims=keepdims) - total * total / size) / (size - ddof)


@summary(np.std, np.nanstd)
def _std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: Any = False, **_: Any
) -> Any:
    return np.sqrt(_var(a, axis, ddof=ddof, keepdims=keepdims))


@summary(np.any)
def _any(a: Any, axis: None = None, **_: Any) -> Any:
    _whole(axis)
    values = flat(arrays(a))
    found: Any = values[0]
    for value in values[1:]:
        found = found | value
    return found


def _whole(axis: None) -> None:
    if axis is not None:
        refuse("np.any or np.all along an axis")


@summary(np.all)
def _all(a: Any, axis: None = None, **_: Any) -> Any:
    _whole(axis)
    values = flat(arrays(a))
    found: Any = values[0]
    for value in values[1:]:
        found = found & value
    return found


@summary(np.count_nonzero)
def _count(a: Any, axis: Any = None, **_: Any) -> Any:
    return entrywise(lambda value: value.indicator() if isinstance(value, Condition) else int(bool(value)), a).sum(
        axis=axis
    )


@summary(np.nanmean)
def _nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
    return arrays(a).mean(axis=axis, keepdims=keepdims)


@summary(np.nansum)
def _nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
    return arrays(a).sum(axis=axis, keepdims=keepdims)


@summary(np.round, np.around)
def _round(a: Any, decimals: int = 0, **_: Any) -> Any:
    refuse("values are rounded", "rounding is not piecewise linear with finitely many pieces")


@summary(np.unique)
def _unique(a: Any, *_: Any, **__: Any) -> Any:
    refuse("np.unique depends on which values are equal")


@summary(np.cumsum)
def _cumsum(a: Any, axis: int | None = None, **_: Any) -> Any:
    array = plain(arrays(a))
    return symbolic(np.add.accumulate(array.reshape(-1) if axis is None else array, axis=axis or 0))


@summary(np.nan_to_num)
def _nan_to_num(x: Any, *_: Any, **__: Any) -> Any:
    return arrays(x).copy()


@summary(np.allclose, np.isclose, np.array_equal)
def _close(*_: Any, **__: Any) -> Any:
    refuse("whether values are close or equal is asked")


def squared_distances(first: Any, second: Any) -> Any:
    """Squared distances between all rows of one and all rows of the other array."""
    left, right = arrays(first), arrays(second)
    offset = left[:, None, :] - right[None, :, :]
    return (offset * offset).sum(axis=-1)


def cdist(first: Any, second: Any, metric: Any = "euclidean", **_: Any) -> Any:
    """``scipy.spatial.distance.cdist``."""
    squares = squared_distances(first, second)
    if metric == "sqeuclidean":
        return squares
    if metric != "euclidean":
        refuse(f"distances by the metric {metric}", "euclidean and sqeuclidean are known")
    return np.sqrt(squares)


def pdist(x: Any, metric: Any = "euclidean", **_: Any) -> Any:
    """``scipy.spatial.distance.pdist``."""
    array = arrays(x)
    upper = np.triu_indices(len(array), 1)
    return symbolic(plain(cdist(array, array, metric))[upper])


def squareform(x: Any, *_: Any, **__: Any) -> Any:
    """``scipy.spatial.distance.squareform``."""
    array = plain(arrays(x))
    if array.ndim == 2:
        return symbolic(array[np.triu_indices(len(array), 1)])
    size = math.isqrt(2 * len(array)) + 1
    found = np.zeros((size, size), dtype=object)
    rows, columns = np.triu_indices(size, 1)
    found[rows, columns] = found[columns, rows] = array
    return symbolic(found)


def trim_mean(a: Any, proportiontocut: float, axis: int = 0, **_: Any) -> Any:
    """``scipy.stats.trim_mean``."""
    array = arrays(a)
    size = array.shape[axis]
    cut = int(proportiontocut * size)
    return np.moveaxis(SUMMARIES[np.sort](array, axis), axis, 0)[cut : size - cut].mean(axis=0)


def rankdata(a: Any, method: str = "average", *, axis: int | None = None, **_: Any) -> Any:
    """``scipy.stats.rankdata``."""
    if method != "ordinal":
        refuse(f"equal values have equal ranks by the method {method}", "ordinal ranks are known")
    array = arrays(a)
    order = SUMMARIES[np.argsort](array, axis)
    ranks = SUMMARIES[np.argsort](order, 0 if axis is None else axis)
    return ranks + 1
