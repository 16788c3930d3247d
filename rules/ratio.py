"""The ratio of one input x and one set S: error^2 over a measure of the spread of S, a lower bound on kappa*.

The measures, m = n - f being the size of S and mean_S the mean of its vectors:

    trace      (1/m) sum over S of ||x_i - mean_S||^2: (f, kappa)-robustness, the paper's definition. The ratio is
               a lower bound on kappa.
    spectral   the largest eigenvalue of (1/m) sum over S of (x_i - mean_S)(x_i - mean_S)^T.
    diameter   max over i, j in S of ||x_i - x_j||^2: (f, lambda)-resilient averaging (Farhadkhani et al. 2022),
               which bounds ||F - mean_S|| by lambda times the diameter. Error and diameter are both squared here, so
               the ratio is a lower bound on lambda^2, not on lambda.
    pairwise   (f/n) max over i, j in S of ||x_i - x_j||^2: ARAgg (Karimireddy et al. 2022), which bounds
               E ||F - mean_S||^2 by c (f/n) rho^2 for random vectors with E ||X_i - X_j||^2 <= rho^2 on S. This is its
               deterministic reading, every X_i being constant: the ratio, n/f times that of the diameter, is a lower
               bound on c. Random vectors can do worse. If the order of the workers does not matter to F, permuting
               the vectors of S at random gives E ||X_i - X_j||^2 = 2 m/(m - 1) variance, so
               (m - 1)/m kappa* n/(2f) <= c* <= kappa* n/(2f), the upper bound being the paper's.

The paper's chain variance <= diameter^2 / 2 makes every lower bound on lambda^2 one on kappa/2.
0/0 is 0, and a positive error over no spread is infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array, as_array, device_of, in_double, is_exact, namespace, to_numpy
from kappaguard.rules.base.errors import InputError

ROUNDINGS = 8
"""An error of this many roundings of the vectors in S is none, if they are all equal."""
HUGE = 1e300
"""Beyond, a difference of two numbers may overflow."""


@dataclass(frozen=True)
class Criterion:
    """A measure of spread: from the vectors of S (..., m, d), or from their squared distances (..., m, m).

    Either is multiplied by ``share(n, f)``.
    """

    name: str
    of_points: Callable[[Array], Array]
    of_distances: Callable[[NDArray[Any]], NDArray[Any]]
    share: Callable[[int, int], Fraction] = lambda n, f: Fraction(1)
    rational: bool = True


def _centred(x: Array) -> Array:
    return x - _mean(x)[..., None, :]


def _mean(x: Array) -> Array:
    total = namespace(x).sum(x, axis=-2)
    return total * Fraction(1, x.shape[-2]) if is_exact(x) else total / x.shape[-2]


def _variance(x: Array) -> Array:
    centred = _centred(x)
    total = namespace(x).sum(centred * centred, axis=(-2, -1))
    return total * Fraction(1, x.shape[-2]) if is_exact(x) else total / x.shape[-2]


def _largest_eigenvalue(x: Array) -> Array:
    if is_exact(x):
        raise InputError("the spectral criterion is irrational and does not run on exact fractions; pass floats")
    xp = namespace(x)
    centred = _centred(x)
    other = xp.matrix_transpose(centred)
    matrix = xp.matmul(other, centred) if x.shape[-1] < x.shape[-2] else xp.matmul(centred, other)
    return xp.linalg.eigvalsh(matrix)[..., -1] / x.shape[-2]


def _square_diameter(x: Array) -> Array:
    xp = namespace(x)
    largest: list[Array] = []
    for row in range(x.shape[-2]):
        # one row at a time: all pairs at once would need m times the memory
        offset = x - x[..., row : row + 1, :]
        largest.append(_largest(xp.sum(offset * offset, axis=-1)))
    return largest[0] if len(largest) == 1 else _largest(_stack(largest, xp))


def _largest(values: Array) -> Array:
    return np.max(values, axis=-1) if isinstance(values, np.ndarray) else namespace(values).max(values, axis=-1)


def _stack(values: list[Array], xp: Any) -> Array:
    if isinstance(values[0], Fraction | int):
        return np.array(values, dtype=object)
    return xp.stack(values, axis=-1)


def _distances_spectrum(distances: NDArray[Any]) -> NDArray[Any]:
    rows = np.mean(distances, axis=-1)
    inner = (rows[..., :, None] + rows[..., None, :] - distances - np.mean(rows, axis=-1)[..., None, None]) / 2
    spectrum: NDArray[Any] = np.linalg.eigvalsh(inner)[..., -1] / distances.shape[-1]
    return spectrum


def _distances_variance(distances: NDArray[Any]) -> NDArray[Any]:
    variance: NDArray[Any] = np.mean(distances, axis=(-2, -1)) / 2
    return variance


def _distances_diameter(distances: NDArray[Any]) -> NDArray[Any]:
    largest: NDArray[Any] = np.max(distances, axis=(-2, -1))
    return largest


TRACE = Criterion("trace", _variance, _distances_variance)
SPECTRAL = Criterion("spectral", _largest_eigenvalue, _distances_spectrum, rational=False)
DIAMETER = Criterion("diameter", _square_diameter, _distances_diameter)
PAIRWISE = Criterion("pairwise", _square_diameter, _distances_diameter, lambda n, f: Fraction(f, n))

CRITERIA: dict[str, Criterion] = {each.name: each for each in (TRACE, SPECTRAL, DIAMETER, PAIRWISE)}


def criterion_named(criterion: str | Criterion) -> Criterion:
    """The criterion of that name."""
    if isinstance(criterion, Criterion):
        return criterion
    if criterion not in CRITERIA:
        raise InputError(f"no criterion is called {criterion!r}; there are {', '.join(CRITERIA)}")
    return CRITERIA[criterion]


def members(subset: Sequence[int] | Array, n: int) -> NDArray[np.int64]:
    """A set S, or one per input, as indices of shape (..., m); given as indices or as a mask of length n."""
    given = to_numpy(subset) if hasattr(subset, "shape") else np.asarray(subset)
    if given.dtype == bool:
        if given.ndim < 1 or given.shape[-1] != n:
            raise InputError(f"a mask of S must have one entry for each of the {n} vectors, got shape {given.shape}")
        sizes = np.unique(np.sum(given, axis=-1))
        if len(sizes) != 1:
            raise InputError(f"the sets of a batch must have the same size, got {sizes.tolist()}")
        given = np.argsort(~given, axis=-1, kind="stable")[..., : int(sizes[0])]
    if given.ndim < 1 or given.shape[-1] < 1 or not np.issubdtype(given.dtype, np.integer):
        raise InputError("S must be a non-empty list of indices or a mask")
    ordered = np.sort(given, axis=-1)
    if np.any(ordered < 0) or np.any(ordered >= n) or np.any(ordered[..., 1:] == ordered[..., :-1]):
        raise InputError(f"S must hold different indices between 0 and {n - 1}")
    return given.astype(np.int64)


def ratio(output: Array, x: Array, subset: Sequence[int] | Array, criterion: str | Criterion = "trace") -> Array:
    """||output - mean_S||^2 / spread of S: (..., d) and (..., n, d) -> (...), in float64 or fractions.

    ``subset`` is S (indices or a mask), for all inputs or one for each. Vectors outside S may be infinite; the ones
    in S may not. A ratio beyond the range of floats is infinite, and NaN in the output stays NaN: that is a fault of
    the rule, not a ratio. In torch it can be differentiated where it is positive and finite.
    """
    measure = criterion_named(criterion)
    points, aggregate = as_array(x), as_array(output)
    if points.ndim < 2 or aggregate.ndim < 1 or points.shape[-1] != aggregate.shape[-1]:
        raise InputError(f"an output of shape {tuple(aggregate.shape)} does not belong to x of {tuple(points.shape)}")
    if is_exact(points) != is_exact(aggregate):
        raise InputError("the output and x must both be exact fractions, or neither")
    n = points.shape[-2]
    index = members(subset, n)
    f = n - index.shape[-1]
    honest = _take(points, index)
    if is_exact(points):
        first = honest[..., 0, :]
        offsets = honest - first[..., None, :]
        error = aggregate - first - _mean(offsets)
        return _exact_quotient(np.sum(error * error, axis=-1), measure.of_points(offsets) * measure.share(n, f))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _float_ratio(aggregate, honest, measure, float(measure.share(n, f)))


def _take(x: Array, index: NDArray[np.int64]) -> Array:
    xp = namespace(x)
    if index.ndim == 1:
        return x[..., _on_device(index, x), :]
    if x.ndim == 2:
        return x[_on_device(index, x)]
    batch = np.broadcast_shapes(tuple(x.shape[:-2]), index.shape[:-1])
    every = xp.broadcast_to(x, (*batch, *x.shape[-2:]))
    chosen = np.broadcast_to(index, (*batch, index.shape[-1]))
    places: tuple[NDArray[Any], ...] = np.indices(batch, sparse=True)
    return every[(*(_on_device(place[..., None], x) for place in places), _on_device(chosen, x))]


def _on_device(index: NDArray[Any], x: Array) -> Array:
    return index if isinstance(x, np.ndarray) else namespace(x).asarray(np.array(index), device=device_of(x))


def _float_ratio(aggregate: Array, honest: Array, measure: Criterion, share: float) -> Array:
    xp = namespace(honest)
    epsilon = max(float(xp.finfo(honest.dtype).eps), float(xp.finfo(aggregate.dtype).eps))
    honest, aggregate = in_double(honest), in_double(aggregate)
    if not bool(xp.all(xp.isfinite(honest))):
        raise InputError("a vector in S is not finite")
    if bool(xp.any(xp.abs(honest) > HUGE)) or bool(xp.any(xp.abs(aggregate) > HUGE)):
        honest, aggregate = honest / 2**24, aggregate / 2**24
    first = honest[..., :1, :]
    offsets = honest - first
    unit = _constant(xp.max(xp.abs(offsets), axis=(-2, -1)))
    unit = xp.where(unit > 0, unit, xp.ones_like(unit))[..., None]
    scaled = offsets / unit[..., None]
    error = (aggregate - first[..., 0, :]) / unit - _mean(scaled)
    spread = measure.of_points(scaled) * share
    square = xp.sum(error * error, axis=-1)
    negligible = ROUNDINGS * epsilon * xp.max(xp.abs(honest), axis=-2) / unit
    off = xp.astype(xp.any(xp.abs(error) > negligible, axis=-1), xp.float64)
    without_spread = xp.where(off > 0, xp.full_like(square, float("inf")), xp.zeros_like(square))
    without_spread = xp.where(xp.isnan(square), square, without_spread)
    positive = spread > 0
    quotient = square / xp.where(positive, spread, xp.ones_like(spread))
    return xp.where(positive, quotient, _constant(without_spread))


def _constant(values: Array) -> Array:
    return values if isinstance(values, np.ndarray | np.generic) else values.detach()


def _exact_quotient(square: Array, spread: Array) -> Array:
    def divide(error: Fraction, width: Fraction) -> Fraction | float:
        if width:
            return Fraction(error) / width
        return float("inf") if error else Fraction(0)

    return np.frompyfunc(divide, 2, 1)(square, spread)
