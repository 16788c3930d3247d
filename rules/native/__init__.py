"""The compiled kernels, spread over threads: distances and coordinate-wise reductions of one large matrix.

They apply to a C-contiguous NumPy matrix of float32 or float64 that is worth the call; the search for the geometric
median, which knows distances only, to batches too. Everything else (batches, gradients, GPUs, fractions, a machine
without a compiler) takes the array-API lines of the rules. Set ``KAPPAGUARD_NATIVE=0`` to take those always,
``KAPPAGUARD_THREADS`` to choose the number of threads.
"""

from __future__ import annotations

import importlib
import os
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.gram import distances_from_gram
from kappaguard.rules.native.networks import network
from kappaguard.rules.native.sharing import over_columns, threads_for

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
LEAST_ENTRIES = 2048
"""Below this many entries the call is not worth it."""
FEW_VECTORS = 128
"""Up to this many vectors the geometric median is found by the compiled search."""

HEAD = 16
"""So many entries tell which rows may be equal."""


@cache
def _compiled() -> Any:
    """The compiled module; None if there is none, or it is switched off."""
    if os.environ.get("KAPPAGUARD_NATIVE", "1") == "0":
        return None
    try:
        return importlib.import_module("kappaguard.rules.native._kernels")
    except ImportError:
        return None


def available() -> bool:
    """Whether the compiled kernels are installed and switched on."""
    return _compiled() is not None


def applies(x: Any) -> bool:
    """Whether the kernels can take x, and are worth it."""
    return (
        isinstance(x, np.ndarray)
        and x.ndim == 2
        and x.size >= LEAST_ENTRIES
        and x.dtype in _FLOATS
        and x.flags.c_contiguous
        and available()
    )


class Products(NamedTuple):
    """Squared distances D between rows, and the inner products G of the rows less one of them, for few rows."""

    distances: NDArray[np.float64]
    gram: NDArray[np.float64] | None


def squared_distances(x: NDArray[Any]) -> Products:
    """Squared distances between the rows of x, in float64, each to about 1e-13 of itself; and what they come from.

    From the Gram matrix about one row, G: D_ij = G_ii + G_jj - 2 G_ij. A pair where that cancels (nearly equal rows, or
    all the others while that row is far away) is formed again from differences. Equal rows at the end or the beginning,
    which Byzantine workers like to send, are looked at once. G_ij is right to 1e-14 of the two lengths.
    """
    alike = _repeated_rows(x)
    if alike is None:
        return _distinct_distances(x)
    kept, place = alike
    index = np.ix_(place, place)
    distances, gram = _distinct_distances(x[kept])
    return Products(distances[index], None if gram is None or len(x) > FEW_VECTORS else gram[index])


def _repeated_rows(x: NDArray[Any]) -> tuple[slice, NDArray[np.intp]] | None:
    """A range of rows that has all others too, and where in it each row is found; None if there is none."""
    heads = [row.tobytes() for row in x[:, :HEAD]]
    if len(set(heads)) == len(heads):
        return None
    for order in (range(len(x)), range(len(x) - 1, -1, -1)):
        first: dict[bytes, int] = {}
        twin = [first.setdefault(heads[row], row) for row in order]
        distinct = len(first)
        chosen = list(order)[:distinct]
        if set(first.values()) != set(chosen):
            continue
        pairs = zip(order, twin, strict=True)
        if all(row == other or np.array_equal(x[row], x[other]) for row, other in pairs):
            low = min(chosen)
            where = np.array([other - low for _, other in sorted(zip(order, twin, strict=True))])
            return slice(low, low + distinct), where
    return None


def _distinct_distances(x: NDArray[Any]) -> Products:
    kernels = _compiled()
    n, d = x.shape

    def gram(begin: int, end: int) -> NDArray[np.float64]:
        part = np.zeros((n - 1, n - 1))
        kernels.gram(x, x.itemsize, n, d, begin, end, part)
        return part

    lower = np.zeros((n, n))
    lower[1:, 1:] = sum(over_columns(x, gram))
    with np.errstate(invalid="ignore", over="ignore"):
        both = lower + lower.T
        np.fill_diagonal(both, lower.diagonal())
        found = distances_from_gram(both)
        suspects = found.lost()
    distances: NDArray[np.float64] = found.distances
    if suspects.any():
        cancelled = np.ascontiguousarray(np.argwhere(np.tril(suspects, -1)), dtype=np.intc)
        rows, columns = cancelled.T
        again = _pair_distances(x, cancelled)
        distances[rows, columns] = again
        distances[columns, rows] = again
    if n > FEW_VECTORS:
        return Products(distances, None)
    return Products(distances, both)


def gram_about(x: NDArray[Any], centre: NDArray[Any], extra: NDArray[Any]) -> NDArray[np.float64]:
    """The inner products of all x_i - centre and of the rows of ``extra``, in float64.

    Each is right to 1e-14 of the two lengths.
    """
    kernels = _compiled()
    kept, place = _repeated_rows(x) or (slice(len(x)), np.arange(len(x)))
    distinct, count = x[kept], len(extra)
    n, d = distinct.shape
    others = [np.ascontiguousarray(each, dtype=x.dtype) for each in (centre, extra)]

    def gram(begin: int, end: int) -> NDArray[np.float64]:
        part = np.zeros((n + count, n + count))
        kernels.gram_about(distinct, x.itemsize, n, d, begin, end, *others, count, part)
        return part

    index = np.concatenate([place, np.arange(n, n + count)])
    with np.errstate(over="ignore", invalid="ignore"):
        lower: NDArray[np.float64] = sum(over_columns(distinct, gram))
        result: NDArray[np.float64] = (lower + np.tril(lower, -1).T)[np.ix_(index, index)]
    return result


def distances_from(x: NDArray[Any], row: int) -> NDArray[np.float64]:
    """Squared distances from one row of x to all, from differences."""
    return _pair_distances(x, _pairs_with(len(x), row))


@lru_cache(maxsize=64)
def _pairs_with(count: int, row: int) -> NDArray[np.intc]:
    return np.array([(row, other) for other in range(count)], dtype=np.intc)


def _pair_distances(x: NDArray[Any], pairs: NDArray[np.intc]) -> NDArray[np.float64]:
    kernels = _compiled()
    n, d = x.shape

    def differences(begin: int, end: int) -> NDArray[np.float64]:
        part = np.zeros(len(pairs))
        kernels.pairs(x, x.itemsize, n, d, begin, end, pairs, len(pairs), part)
        return part

    total: NDArray[np.float64] = sum(over_columns(x, differences))
    return total


def squared_lengths(x: NDArray[Any]) -> NDArray[np.float64]:
    """The sums of squares of the rows of x, accumulated in float64."""
    kernels = _compiled()
    n, d = x.shape

    def squares(begin: int, end: int) -> NDArray[np.float64]:
        part = np.zeros(n)
        kernels.squares(x, x.itemsize, n, d, begin, end, part)
        return part

    total: NDArray[np.float64] = sum(over_columns(x, squares))
    return total


def combine(weights: NDArray[np.float64], x: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """weights @ x for one row of weights, and whether all of it is finite; rows of weight zero are not looked at."""
    kernels = _compiled()
    n, d = x.shape
    given = np.asarray(weights, dtype=np.float64, order="C")
    out = np.empty(d, dtype=x.dtype)
    if threads_for(x) == 1:
        return out, not kernels.combine(x, x.itemsize, n, d, 0, d, given, out)

    def part(begin: int, end: int) -> bool:
        return bool(kernels.combine(x, x.itemsize, n, d, begin, end, given, out))

    return out, not any(over_columns(x, part))


Medians = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""Weights, and where there are none because the case is left to others."""


def median_weights(
    distances: NDArray[np.float64],
    gram: NDArray[np.float64] | None,
    widest: float,
    same: float,
    farther: float,
    collinear: float,
    tolerance: float,
    most_steps: int,
    halvings: int,
) -> Medians | None:
    """The weights of the geometric medians of few vectors in general position, for distances of shape (..., n, n).

    Where distances differ too much, it takes the inner products about a point between the vectors, if they are known.
    """
    kernels = _compiled()
    n = distances.shape[-1]
    if kernels is None or n > FEW_VECTORS:
        return None
    assert gram is None or gram.shape == distances.shape
    batch = distances.shape[:-2]
    weights, left = np.empty((*batch, n)), np.empty(batch, dtype=np.bool_)
    given = np.ascontiguousarray(distances), None if gram is None else np.ascontiguousarray(gram)
    limits = widest, same, farther, collinear, tolerance, most_steps, halvings
    kernels.median(*given, left.size, n, *limits, weights, left)
    return weights, left


def window_mean(x: NDArray[Any], low: int, high: int) -> NDArray[Any] | None:
    """Per column, the mean of the values of ranks low .. high - 1; None if x has a NaN."""
    return _reduce(x, network(len(x), low, high), low, high, 0, 0.0)


def mean_around_median(x: NDArray[Any], kept: int, margin: float) -> NDArray[Any] | None:
    """Per column, the mean of the ``kept`` values nearest to the median; None if x has a NaN."""
    return _reduce(x, network(len(x), 0, len(x)), 0, 0, kept, margin)


def _reduce(
    x: NDArray[Any], steps: NDArray[np.intc], low: int, high: int, kept: int, margin: float
) -> NDArray[Any] | None:
    kernels = _compiled()
    n, d = x.shape
    out = np.empty(d, dtype=x.dtype)

    def reduce(begin: int, end: int) -> bool:
        return bool(kernels.reduce(x, x.itemsize, n, d, begin, end, steps, len(steps), low, high, kept, margin, out))

    return None if any(over_columns(x, reduce)) else out
