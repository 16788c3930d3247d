"""Where cells are convex: the Gram matrices of inputs with few roles, and inputs on a line.

A space turns its points into inputs, says what ratio given weights lead to, and solves for the best point on one side
of given planes. All planes go through the origin, and a positive multiple of a point is the same input on another
scale.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kappaguard.search.arena import Floats, Integers
from kappaguard.search.exact.conic import NoAnswer, Program, packed, solve

FAR = 1e4
"""The largest trace of a Gram matrix, in units of the honest variance."""
THIN = 1e-9


class NoPoint(ArithmeticError):
    """The program of a cell has no answer."""


class CellSpace(ABC):
    """Points of some dimension ``size``, all of them with weights on inputs."""

    size: int

    @abstractmethod
    def inputs(self, points: Floats) -> Floats:
        """Inputs (b, n, d) from parameters (b, size)."""

    @abstractmethod
    def point(self, x: Floats) -> Floats:
        """The point of an input, or of one near it."""

    @abstractmethod
    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Points in general position."""

    @abstractmethod
    def expected(self, points: Floats, weights: Floats) -> Floats:
        """The ratios if these were the weights."""

    @abstractmethod
    def optimum(self, weights: Floats, walls: list[Floats], inside: Floats) -> Floats:
        """The point with the largest expected ratio on the right side of all walls; NoPoint if there is none."""

    @abstractmethod
    def weights(self, x: Floats, output: Floats, cell: Any) -> Floats | None:
        """The weights that an output tells, if it tells any."""


class GramSpace(CellSpace):
    """Inputs in which the workers of a group can be exchanged: the Gram matrix of the groups' means, and scatters.

    The origin is the honest mean: means = N y with sum over the honest of N y = 0 and Z = y y^T any positive
    semidefinite matrix. The workers of group g are at mean_g + s_g h_i, where the h_i are the corners of a regular
    simplex of its own, <h_i, h_j> = [i = j] - 1 / size. A point is Z, packed, and the squares of the s_g. With
    c = w - 1_honest / m and C_g its sum over group g, the squared error is

        C^T N Z N^T C + sum_g s_g^2 (sum over g of c_i^2 - C_g^2 / size_g),

    linear in the point, and so is the variance.
    """

    def __init__(self, places: Integers, m: int) -> None:
        self.places, self.m, self.n = places, m, len(places)
        self.sizes = np.bincount(places)
        groups = len(self.sizes)
        honest = np.bincount(places[:m], minlength=groups)
        whole = np.eye(groups)
        first = int(np.argmax(honest))
        # every mean is free but the first one's, which the others determine
        self.basis = np.delete(whole, first, axis=1)
        self.basis[first] = -np.delete(honest, first) / honest[first]
        self.scale = self.basis.shape[1]
        self.packed = self.scale * (self.scale + 1) // 2
        self.scattered = np.flatnonzero(self.sizes > 1)
        self.size = self.packed + len(self.scattered)
        self.variance = self._linear(self.basis.T @ np.diag(honest) @ self.basis, (honest[self.scattered] > 0) * (
            self.sizes[self.scattered] - 1.0)) / m  # fmt: skip
        self.corners = np.zeros((self.n, int(np.sum(self.sizes - 1))))
        self.columns = []
        column = 0
        for group in self.scattered:
            members = np.flatnonzero(places == group)
            simplex = _simplex(len(members))
            self.corners[np.ix_(members, np.arange(column, column + len(members) - 1))] = simplex
            self.columns += [int(np.searchsorted(self.scattered, group))] * (len(members) - 1)
            column += len(members) - 1
        self.rows, self.cols = np.tril_indices(self.scale)
        self.factor = np.where(self.rows == self.cols, 1.0, np.sqrt(2.0))

    def _linear(self, matrix: Floats, scatters: Floats) -> Floats:
        return np.concatenate([packed(matrix), scatters])

    def _matrices(self, points: Floats) -> Floats:
        matrices = np.zeros((len(points), self.scale, self.scale))
        matrices[:, self.rows, self.cols] = points[:, : self.packed] / self.factor
        matrices[:, self.cols, self.rows] = matrices[:, self.rows, self.cols]
        return matrices

    def inputs(self, points: Floats) -> Floats:
        """Inputs in n - 1 columns, from parameters."""
        unit = np.maximum(points @ self.variance, 1e-300)
        points = points / unit[:, None]
        means = self.basis @ _factors(self._matrices(points))
        scatters = np.sqrt(np.maximum(points[:, self.packed :], 0.0))
        return np.concatenate([means[:, self.places], self.corners * scatters[:, None, self.columns]], axis=2)

    def point(self, x: Floats) -> Floats:
        """Means and scatters over the groups."""
        x = x - x[: self.m].mean(axis=0)
        means = np.stack([x[self.places == group].mean(axis=0) for group in range(len(self.sizes))])
        free = np.linalg.lstsq(self.basis, means, rcond=None)[0]
        spread = np.sum((x - means[self.places]) ** 2, axis=1)
        scatters = np.array([spread[self.places == group].sum() for group in self.scattered])
        point = self._linear(free @ free.T, scatters / (self.sizes[self.scattered] - 1))
        return np.asarray(point / max(float(point @ self.variance), 1e-300))

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Means of all sizes, scatters of all sizes."""
        y = generator.normal(size=(count, self.scale, self.scale + 1))
        y *= np.exp(0.7 * generator.normal(size=(count, self.scale, 1)))
        thin = np.exp(-2.0 * generator.random(size=(count, 1, self.scale + 1)) * np.arange(self.scale + 1))
        gram = (y * thin) @ np.swapaxes(y * thin, 1, 2)
        points = np.empty((count, self.size))
        points[:, : self.packed] = gram[:, self.rows, self.cols] * self.factor
        points[:, self.packed :] = np.exp(2.0 * generator.normal(size=(count, len(self.scattered))) - 1.0)
        return np.asarray(points / (points @ self.variance)[:, None])

    def error(self, weights: Floats) -> Floats:
        """The squared error as a linear function of the point."""
        c = weights.copy()
        c[: self.m] -= 1 / self.m
        sums = np.bincount(self.places, weights=c, minlength=len(self.sizes))
        squares = np.bincount(self.places, weights=c * c, minlength=len(self.sizes))
        along = self.basis.T @ sums
        own = (squares - sums**2 / self.sizes)[self.scattered]
        return self._linear(np.outer(along, along), own)

    def expected(self, points: Floats, weights: Floats) -> Floats:
        """A quotient of linear functions."""
        return np.asarray((points @ self.error(weights)) / np.maximum(points @ self.variance, 1e-300))

    def optimum(self, weights: Floats, walls: list[Floats], inside: Floats) -> Floats:
        """A semidefinite program with as many rows as there are groups less one."""
        trace = self._linear(np.eye(self.scale), np.ones(len(self.scattered)))
        sides = [*np.eye(self.size)[self.packed :], *walls, -trace / FAR]
        matrix = np.vstack([self.variance, -np.array(sides), -np.eye(self.packed, self.size)])
        right = np.zeros(len(matrix))
        right[0] = right[len(sides)] = 1.0
        try:
            found = solve(Program(-self.error(weights), matrix, right, 1, len(sides), self.scale))
        except NoAnswer as ended:
            raise NoPoint from ended
        if not np.all(np.isfinite(found.point)):
            raise NoPoint
        return found.point

    def weights(self, x: Floats, output: Floats, cell: Any) -> Floats | None:
        """n - 1 coordinates and the sum determine n weights."""
        system = np.vstack([x.T, np.ones(len(x))])
        given = np.append(output, 1.0)
        found = np.linalg.lstsq(system, given, rcond=1e-12)[0]
        if not np.all(np.abs(system @ found - given) <= 1e-7 * (1 + np.max(np.abs(given)))):
            return None
        return np.asarray(found)


class LineSpace(CellSpace):
    """Inputs on a line, the honest mean at a centre of their own: a point is all but one honest offset."""

    def __init__(self, m: int, f: int, like: Floats) -> None:
        self.m, self.n = m, m + f
        self.size = self.n - 1
        self.centre = float(np.mean(like[:m]))
        self.unit = float(np.std(like[:m])) or 1.0
        self.basis = np.eye(self.n)[:, 1:]
        self.basis[0, : m - 1] = -1.0
        self.form = self.basis[:m].T @ self.basis[:m] / m
        self.root = np.linalg.cholesky(self.form + THIN * np.eye(self.size)).T

    def inputs(self, points: Floats) -> Floats:
        """Inputs in one column, from parameters."""
        offsets = points @ self.basis.T
        size = np.sqrt(np.maximum(np.mean(offsets[:, : self.m] ** 2, axis=1), 1e-300))
        return np.asarray((self.centre + self.unit * offsets / size[:, None])[:, :, None])

    def point(self, x: Floats) -> Floats:
        """The offsets from the honest mean, in units of the honest deviation."""
        return np.asarray((x[1:, 0] - self.centre) / self.unit)

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Normal ones, some levels several times, the others further out."""
        x = generator.normal(size=(count, self.n))
        x[:, self.m :] *= np.exp(generator.normal(size=(count, 1)))
        x -= x[:, : self.m].mean(axis=1, keepdims=True)
        return np.asarray((x / np.std(x[:, : self.m], axis=1, keepdims=True))[:, 1:])

    def expected(self, points: Floats, weights: Floats) -> Floats:
        """The square of a linear function over a quadratic form."""
        variance = np.sum((points @ self.form) * points, axis=1)
        return np.asarray((points @ weights) ** 2 / np.maximum(variance, 1e-300))

    def optimum(self, weights: Floats, walls: list[Floats], inside: Floats) -> Floats:
        """The least form for an error of one: a least distance problem (Lawson and Hanson 1974, chapter 23)."""
        from scipy.optimize import nnls

        aim = weights * np.sign(float(weights @ inside))
        lower = np.linalg.inv(self.root)
        sides = np.array([*walls, aim]) @ lower
        goal = np.zeros(len(sides))
        goal[-1] = 1.0
        try:
            shares, _ = nnls(np.vstack([sides.T, goal]), np.append(np.zeros(self.size), 1.0))
        except RuntimeError as ended:
            raise NoPoint from ended
        rest = np.append(np.zeros(self.size), 1.0) - np.vstack([sides.T, goal]) @ shares
        if not rest[-1] > 1e-12:
            raise NoPoint
        point = lower @ (-rest[:-1] / rest[-1])
        variance = float(point @ self.form @ point)
        if not variance > 0:
            raise NoPoint
        return np.asarray(point / np.sqrt(variance))

    def weights(self, x: Floats, output: Floats, cell: Any) -> Floats | None:
        """The derivatives of the error along the offsets, by one difference each."""
        point = self.point(x)
        step = 1e-6
        moved = point + step * np.eye(self.size)
        plain = np.vstack([point, moved])
        offsets = self.centre + self.unit * plain @ self.basis.T
        outputs = cell.arena.outputs(offsets[:, :, None], cell.order)[:, 0]
        error = (outputs - self.centre) / self.unit
        slopes = (error[1:] - error[0]) / step
        if not np.all(np.isfinite(slopes)) or abs(float(slopes @ point) - error[0]) > 1e-4 * abs(error[0]):
            return None
        return np.asarray(slopes)


def _factors(matrices: Floats) -> Floats:
    """L with L L^T = A for a batch of positive semidefinite A (Cholesky); pivots lost in rounding count as zero.

    Not LAPACK's: that needs definite matrices, and calls threads for each of these small ones.
    """
    rest, columns = matrices.copy(), np.zeros_like(matrices)
    grain = 1e-17 * np.trace(matrices, axis1=1, axis2=2)
    for k in range(matrices.shape[1]):
        pivot = rest[:, k, k]
        sound = pivot > grain
        columns[:, k:, k] = np.where(sound, 1 / np.sqrt(np.where(sound, pivot, 1.0)), 0.0)[:, None] * rest[:, k:, k]
        rest -= columns[:, :, None, k] * columns[:, None, :, k]
    return columns


def _simplex(size: int) -> Floats:
    """Points h_i with <h_i, h_j> = [i = j] - 1 / size, in size - 1 columns (Helmert)."""
    corners = np.zeros((size, size - 1))
    for column in range(size - 1):
        length = np.sqrt((column + 1) * (column + 2))
        corners[: column + 1, column] = 1 / length
        corners[column + 1, column] = -(column + 1) / length
    return corners
