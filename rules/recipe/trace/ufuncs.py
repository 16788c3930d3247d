"""NumPy's ufuncs on symbols: arithmetic by the objects themselves, comparisons as conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import (
    as_object,
    flat,
    is_object,
    plain,
    require_float,
    summary_of,
    symbolic,
    symbols_in,
)
from kappaguard.rules.recipe.trace.conditions import Condition, compare
from kappaguard.rules.recipe.trace.expression import Expression
from kappaguard.rules.recipe.trace.marks import whole_mask
from kappaguard.rules.recipe.trace.memory import remembered
from kappaguard.rules.recipe.trace.order import family, is_nonnegative, least
from kappaguard.rules.recipe.trace.places import Ranked, Standing
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.weighing import gathered


def each_entry(function: Callable[..., Any], *arrays: Any) -> Any:
    """A function entry by entry, with broadcasting."""
    given = np.broadcast_arrays(*[as_object(array) for array in arrays])
    found = np.empty(given[0].shape, dtype=object)
    for where in np.ndindex(found.shape):
        found[where] = function(*[array[where] for array in given])
    return found


def entrywise(function: Callable[..., Any], *arrays: Any) -> Any:
    """The same, as our array; as plain booleans where nothing depends on the input."""
    found = each_entry(function, *arrays)
    if all(isinstance(each, bool | np.bool_) for each in found.flat):
        return found.astype(bool) if found.ndim else bool(found[()])
    return symbolic(found)


def _ordered(left: Any, right: Any, kind: str) -> Any:
    if (
        isinstance(left, Standing)
        or isinstance(right, Standing)
        or (kind == "==" and Ranked in (type(left), type(right)))
    ):
        found = {"<": operator.lt, "<=": operator.le, "==": operator.eq}[kind](left, right)
        return found
    if isinstance(left, Expression) or isinstance(right, Expression):
        found = compare(left, right, kind)
        if found is NotImplemented:
            refuse(f"a {type(left).__name__} is compared with a {type(right).__name__}")
        return found
    if isinstance(left, Ranked | Condition) or isinstance(right, Ranked | Condition):
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
    """What a ufunc does to symbols."""

    def apply(*given: Any, **chosen: Any) -> Any:
        return _applied(ufunc, method, given, chosen)

    return remembered(apply, f"{ufunc.__name__}.{method}", inputs, options)


def _applied(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Arithmetic by the objects themselves, comparisons as conditions."""
    name = ufunc.__name__
    out = options.pop("out", None)
    require_float(options.pop("dtype", None))
    options.pop("casting", None)
    if method == "reduce" and name in ("maximum", "minimum"):
        if options.get("where", True) is not True or options.get("initial", np._NoValue) is not np._NoValue:
            refuse(f"np.{name}.reduce with where or initial")
        found = summary_of(np.max if name == "maximum" else np.min)(
            inputs[0], **{key: value for key, value in options.items() if key in ("axis", "keepdims")}
        )
    elif method == "__call__" and name in ENTRYWISE and options.get("where", True) is True:
        found = entrywise(ENTRYWISE[name], *inputs)
    elif method == "reduce" and name == "add" and (mask := whole_mask(flat(inputs[0]))) is not None:
        found = mask.count
    elif name in ARITHMETIC and method in ("__call__", "reduce", "outer", "accumulate"):
        values = [_operand(value) for value in inputs]
        found = getattr(ufunc, method)(*values, **options)
        if name == "matmul" or method == "reduce":
            found = each_entry(_gathered, found) if isinstance(found, np.ndarray) else _gathered(found)
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


def _gathered(value: Any) -> Any:
    return gathered(value)._named() if isinstance(value, Expression) and value.degree == 2 else value


def _operand(value: Any) -> Any:
    """For arithmetic: conditions count as 0 and 1."""
    if isinstance(value, Condition):
        return value
    return (
        plain(value)
        if isinstance(value, np.ndarray)
        else as_object(value)
        if isinstance(value, Expression | Ranked)
        else value
    )
