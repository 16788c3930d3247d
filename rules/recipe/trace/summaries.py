"""How the meaning of a NumPy function for symbolic arrays is registered, and what such meanings share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import Chosen, SymbolicArray, plain, require_float, symbolic, symbols_in
from kappaguard.rules.recipe.trace.expression import Symbols
from kappaguard.rules.recipe.trace.memory import remembered
from kappaguard.rules.recipe.trace.places import Ranked
from kappaguard.rules.recipe.trace.refusal import refuse

SUMMARIES: dict[Any, Callable[..., Any]] = {}


def summary(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what a function does."""

    def register(meaning: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            SUMMARIES[function] = strict(meaning, function.__name__)
        return meaning

    return register


KNOWN = {
    "axis",
    "keepdims",
    "kind",
    "order",
    "stable",
    "overwrite_input",
    "ddof",
    "weights",
    "method",
    "returned",
    "ord",
}
KNOWN |= {"x", "y", "a", "q", "kth", "arr", "indices", "obj", "condition", "a_min", "a_max", "min", "max", "metric"}


def strict(meaning: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same, which refuses arguments that it would otherwise overlook."""
    signature = inspect.signature(meaning)

    def call(*args: Any, **options: Any) -> Any:
        given = dict(signature.bind(*args, **options).arguments)
        for rest in [parameter.name for parameter in signature.parameters.values() if parameter.kind in VARIADIC]:
            more = given.pop(rest, {})
            given |= more if isinstance(more, dict) else {f"argument {place}": each for place, each in enumerate(more)}
        require_float(given.get("dtype"))
        for key, value in given.items():
            usual = value is None or value is np._NoValue or value is False or (key == "where" and value is True)
            if key not in KNOWN and key != "dtype" and not usual and key not in signature.parameters:
                refuse(f"np.{name} with {key}={value!r:.40}")
        if given.get("out") is not None or given.get("returned"):
            refuse(f"np.{name} writes into another array", "assign its result")
        return meaning(*args, **options)

    return lambda *args, **options: remembered(call, name, args, options)


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def arrays(value: Any) -> Any:
    """A list of symbolic things as an array."""
    if isinstance(value, np.ndarray):
        return value if isinstance(value, SymbolicArray) else symbolic(value)
    if isinstance(value, Chosen):
        refuse("what a mask chose is ordered", "only sum and mean of it are known")
    return stacked(value)


def stacked(value: Any) -> Any:
    """Nested lists, tuples and arrays with symbols in them as one array."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Ranked) and isinstance(value.values[0], list | tuple | np.ndarray):
        return stacked(list(value))
    if not isinstance(value, list | tuple):
        single = np.empty((), dtype=object)
        single[()] = value
        return single
    parts = [plain(stacked(each)).astype(object, copy=False) for each in value]
    if len({part.shape for part in parts}) > 1:
        refuse("arrays of different shapes are put into one")
    return symbolic(np.stack(parts)) if parts else np.array([])


def along(function: Callable[[list[Any], Symbols], list[Any]], array: Any, axis: int | None) -> Any:
    """A function of one line of entries to another, for all lines along an axis."""
    array = arrays(array)
    if axis is None:
        array, axis = array.reshape(-1), 0
    symbols = symbols_in(array)
    if symbols is None:
        refuse("plain numbers are kept in an array of symbols")
    lines = np.moveaxis(plain(array), axis, -1)
    found = [function(list(lines[where]), symbols) for where in np.ndindex(lines.shape[:-1])]
    result = np.empty((*lines.shape[:-1], len(found[0])), dtype=object)
    for where, values in zip(np.ndindex(lines.shape[:-1]), found, strict=True):
        for place, value in enumerate(values):
            result[(*where, place)] = value
    return symbolic(np.moveaxis(result, -1, axis))


def single(function: Callable[[list[Any], Symbols], Any], array: Any, axis: int | None, keepdims: Any = False) -> Any:
    """A function of a line of entries to one value, for all lines along an axis."""
    array = arrays(array)
    shape = array.shape
    found = along(lambda values, symbols: [function(values, symbols)], array, axis)
    if keepdims is True:
        return found.reshape((1,) * len(shape)) if axis is None else found
    return symbolic(plain(found).reshape(()) if axis is None else np.squeeze(plain(found), axis=axis))
