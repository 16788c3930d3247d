"""Inputs as seen from their honest set: the errors of outputs and the spread of S, for many rules at once.

``kappaguard.rules.ratio`` answers for one output. Here the mean of S and the inner products about it are formed once
for an input and serve all rules that see it: of each output only the distance from the mean is left to be formed. Where
that would lose digits or leave the range of floats, ``ratio`` is asked after all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules import native
from kappaguard.rules.base.arrays import Array, in_double, namespace, to_numpy
from kappaguard.rules.base.lazy import lazy
from kappaguard.rules.ratio import Criterion, ratio

BLOCK = 1 << 16
"""Coordinates that are held in float64 at once."""

Floats = NDArray[np.float64]


class Scene:
    """Inputs x of shape (b, n, d) with one set S for all of them."""

    def __init__(self, x: Array, subset: Sequence[int], criterion: Criterion) -> None:
        self.x = x
        self.subset = tuple(subset)
        self.criterion = criterion
        # a range is taken without a copy
        low, high = self.subset[0], self.subset[-1] + 1
        self.honest = x[:, low:high] if self.subset == tuple(range(low, high)) else x[:, list(self.subset)]

    @lazy
    def _centre(self) -> tuple[Array, Array]:
        """One vector of S, and the mean of the differences to it: no digit is lost to a common offset."""
        first = in_double(self.honest[:, 0])
        xp = namespace(first)
        total = xp.zeros_like(first)
        for row in range(1, self.honest.shape[1]):
            total = total + (in_double(self.honest[:, row]) - first)
        return first, total / self.honest.shape[1]

    @lazy
    def mean(self) -> Array:
        """The mean of S, (b, d), in float64."""
        first, shift = self._centre
        return first + shift

    @lazy
    def gram(self) -> Floats:
        """The inner products of all x_i - mean_S, (b, n, n)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return _about_subset(
                np.stack([_products(*pair) for pair in zip(self.x, self.mean, strict=True)]), self.subset
            )

    @lazy
    def spread(self) -> Floats:
        """The criterion's measure of S, (b,), its share included."""
        with np.errstate(over="ignore", invalid="ignore"):
            inside = self._honest_gram
            squares = np.diagonal(inside, axis1=-2, axis2=-1)
            distances = squares[:, :, None] + squares[:, None, :] - 2 * inside
            n, m = self.x.shape[1], len(self.subset)
            if self.criterion.name == "trace":
                spread = np.sum(squares, axis=-1) / m
            else:
                finite = np.where(np.isfinite(distances), distances, 0.0)
                spread = self.criterion.of_distances(finite) * float(self.criterion.share(n, n - m))
            return np.asarray(spread)

    @property
    def _honest_gram(self) -> Floats:
        if "gram" in self.__dict__:
            index = list(self.subset)
            return self.gram[:, index][:, :, index]
        with np.errstate(over="ignore", invalid="ignore"):
            inside = np.stack([_products(*pair) for pair in zip(self.honest, self.mean, strict=True)])
            return _about_subset(inside, range(len(self.subset)))

    def with_input(self, x: Array) -> Scene:
        """Other Byzantine vectors with the same honest ones, at the same places: what is known of S stays known."""
        other = Scene(x, self.subset, self.criterion)
        known = {"_centre": self._centre, "mean": self.mean, "spread": self.spread}
        other.__dict__ |= known
        return other

    def ratios(self, outputs: Array) -> Floats:
        """The ratio of each output, (b, d) -> (b,)."""
        first, shift = self._centre
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            error = in_double(outputs) - first - shift
            squares: Floats = to_numpy(namespace(error).sum(error * error, axis=-1))
            found: Floats = squares / self.spread
        for place in np.flatnonzero(~(np.isfinite(found) & (self.spread > 0))):
            found[place] = float(ratio(outputs[place], self.x[place], self.subset, self.criterion))
        return found


def _products(x: Array, centre: Array) -> Floats:
    """The inner products of x_i - centre, about a centre that may be rounded."""
    if native.applies(x):
        return native.gram_about(x, centre, x[:0])
    total: Any = 0.0
    for start in range(0, x.shape[-1], BLOCK):
        part = in_double(x[:, start : start + BLOCK]) - centre[start : start + BLOCK]
        total = total + part @ part.T
    return np.asarray(to_numpy(total), dtype=np.float64)


def _about_subset(gram: Floats, subset: Sequence[int]) -> Floats:
    """The same inner products about the mean of S, which the centre is but for its rounding."""
    rows = np.mean(gram[:, list(subset)], axis=1)
    whole = np.mean(rows[:, list(subset)], axis=-1)
    moved: Floats = gram - rows[:, :, None] - rows[:, None, :] + whole[:, None, None]
    return moved
