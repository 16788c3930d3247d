"""One call of the code on symbols, with everything in place that catches what it does with them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace import functions
from kappaguard.rules.recipe.trace.array import (
    Chosen,
    CutRows,
    SymbolicArray,
    has_symbols,
    joined,
    plain,
    require_float,
    symbolic,
)
from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Symbols, atom
from kappaguard.rules.recipe.trace.merging import merge, standing
from kappaguard.rules.recipe.trace.places import Ranked
from kappaguard.rules.recipe.trace.refusal import REFUSALS, Untraceable, refuse
from kappaguard.rules.recipe.trace.rewriting import rewriting
from kappaguard.rules.recipe.trace.summaries import SUMMARIES, arrays, stacked

MOST_PATHS = 64
"""Ways through the code's own branches that are followed."""


MOST_DECISIONS = 40
"""In one way through the code."""


class Path:
    """The decisions of one run: those prescribed, then always yes."""

    def __init__(self, prescribed: list[bool]) -> None:
        self.prescribed = prescribed
        self.met: list[tuple[Condition, bool]] = []

    def decide(self, condition: Condition) -> bool:
        """The answer to a condition; the same one again if it was asked before."""
        for earlier, answer in self.met:
            if earlier.key == condition.key:
                return answer
        place = len(self.met)
        if place >= MOST_DECISIONS:
            refuse("a loop goes on until a comparison ends it", "iterations cannot be followed: search only")
        answer = self.prescribed[place] if place < len(self.prescribed) else True
        self.met.append((condition, answer))
        return answer


CURRENT: ContextVar[Path | None] = ContextVar("path", default=None)


def decide(condition: Condition) -> bool:
    """Which way the code goes at a condition."""
    path = CURRENT.get()
    if path is None:
        refuse("a comparison of values of the input is decided")
    return path.decide(condition)


def outputs(call: Callable[[Any], Any], targets: list[Any], n: int, d: int) -> tuple[Symbols, list[Any]]:
    """The output's d expressions after a call on n symbolic vectors of dimension d."""
    symbols = Symbols()
    return symbols, _explored(call, targets, symbols, n, d, [])[0]


def _explored(
    call: Callable[[Any], Any],
    targets: list[Any],
    symbols: Symbols,
    n: int,
    d: int,
    prescribed: list[bool],
    done: int = 0,
) -> tuple[list[Any], int]:
    """The output where the first decisions are prescribed, merged over all that follow."""
    if done >= MOST_PATHS:
        refuse(f"the code has more than {MOST_PATHS} ways through its branches", "use argmin, sort or masks")
    path = Path(prescribed)
    token = CURRENT.set(path)
    REFUSALS.clear()
    try:
        with rewriting(targets, stand_ins()):
            output = _vector(call(entries(symbols, n, d)), d)
        if REFUSALS:
            raise REFUSALS[0]
    finally:
        CURRENT.reset(token)
        REFUSALS.clear()
    done += 1
    for place in range(len(path.met) - 1, len(prescribed) - 1, -1):
        taken = [answer for _, answer in path.met[:place]]
        other, done = _explored(call, targets, symbols, n, d, [*taken, False], done)
        condition = path.met[place][0]
        output = [merge(condition, left, right) for left, right in zip(output, other, strict=True)]
    return output, done


def entries(symbols: Symbols, n: int, d: int) -> Any:
    """The entries of the symbolic input."""
    found = np.empty((n, d), dtype=object)
    for i in range(n):
        for k in range(d):
            found[i, k] = atom(symbols, "entry", i, k)
    return symbolic(found)


def _vector(output: Any, d: int) -> list[Any]:
    if not isinstance(output, np.ndarray) and isinstance(getattr(output, "array", None), np.ndarray):
        output = output.array
    if isinstance(output, Ranked):
        output = standing(output, list(output.values))
    values = plain(stacked(output) if isinstance(output, list | tuple) else output)
    if not isinstance(values, np.ndarray):
        raise Untraceable(f"the result is a {type(output).__name__}, not a vector")
    if values.shape != (d,):
        raise Untraceable(f"the result has shape {values.shape}, not {(d,)}")
    return list(values)


def _wrapped(function: Any, meaning: Callable[..., Any]) -> Callable[..., Any]:
    """A function that knows lists of symbols as well."""

    def call(*args: Any, **options: Any) -> Any:
        if any(not isinstance(each, np.ndarray) and has_symbols(each) for each in args[:2]):
            args = tuple(
                arrays(each) if isinstance(each, list | tuple) and has_symbols(each) else each for each in args
            )
            return meaning(*args, **options)
        if any(has_symbols(each) for each in (*args[:2], *options.values())):
            return meaning(*args, **options)
        return function(*args, **options)

    call.__name__ = getattr(function, "__name__", "function")
    return call


def _making(function: Any) -> Callable[..., Any]:
    """``np.array`` and its like."""

    def make(value: Any, *args: Any, **options: Any) -> Any:
        if isinstance(value, Chosen):
            return value
        if has_symbols(value):
            require_float(args[0] if args else options.get("dtype"))
        if isinstance(value, SymbolicArray):
            return value.copy() if function is np.array else value
        if isinstance(value, np.ndarray) and has_symbols(value):
            return (value.copy() if function is np.array else value) if value.ndim == 0 else symbolic(value.copy())
        if has_symbols(value):
            found = stacked(value)
            return symbolic(found) if isinstance(found, np.ndarray) else found
        return function(value, *args, **options)

    return make


def _filling(function: Any) -> Callable[..., Any]:
    """``np.zeros`` and its like: arrays of numbers, and masks, may have to hold symbols."""

    def make(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return found.astype(object).view(SymbolicArray) if found.dtype.kind in "fbiu" and found.ndim else found

    return make


def _joining(function: Any) -> Callable[..., Any]:
    def join(parts: Any, *args: Any, **options: Any) -> Any:
        if isinstance(parts, list | tuple) and any(isinstance(each, CutRows) for each in parts):
            return joined(parts, options.get("axis", args[0] if args else 0))
        return function(parts, *args, **options)

    return join


def _summing(function: Any) -> Callable[..., Any]:
    def call(value: Any, *args: Any, **options: Any) -> Any:
        if isinstance(value, list | tuple) and has_symbols(value):
            value = arrays(value)
        return function(value, *args, **options)

    return call


def stand_ins() -> dict[Any, Callable[..., Any]]:
    """Our versions of functions that would not ask an array's class what to do, or are handed lists."""
    from scipy.spatial import distance

    table: dict[Any, Callable[..., Any]] = {
        function: _wrapped(function, meaning) for function, meaning in SUMMARIES.items()
    }
    table |= {making: _making(making) for making in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)}
    table |= {filling: _filling(filling) for filling in (np.zeros, np.empty, np.ones, np.full, np.eye)}
    table |= {joining: _joining(joining) for joining in (np.concatenate, np.vstack)}
    table |= {summing: _summing(summing) for summing in (np.mean, np.sum, np.dot)}
    for name in ("cdist", "pdist", "squareform"):
        table[getattr(distance, name)] = _wrapped(getattr(distance, name), getattr(functions, name))
    if "scipy.stats" in sys.modules:
        from scipy import stats

        table |= {each: _wrapped(each, getattr(functions, each.__name__)) for each in (stats.trim_mean, stats.rankdata)}
    if "torch" in sys.modules:
        from kappaguard.rules.recipe.trace.tensors import stand_ins as of_torch

        table |= of_torch()
    if "flwr" in sys.modules:
        from kappaguard.rules.recipe.trace.flower import stand_ins as of_flower

        table |= of_flower()
    return table
