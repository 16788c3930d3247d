"""Quadratic forms that treat the workers of one role alike.

Group the vectors by role: orbit o has n_o of them, with mean a_o and scatter W_o = sum over o of ||x_i - a_o||^2.
Sums of squared distances over whole orbits depend on nothing else,

    sum over i in o, j in p of ||x_i - x_j||^2 = n_o n_p ||a_o - a_p||^2 + n_p W_o + n_o W_p        (o != p),
    sum over ordered pairs i != j in o          = 2 n_o W_o,

and so do error and variance. A form is a symmetric matrix K over the means and a vector w over the scatters; it is
non-negative on all inputs if K is positive semidefinite and w >= 0. The size of K is the number of roles, whatever
n is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Form:
    """sum_op K_op <a_o, a_p> + sum_o w_o W_o."""

    matrix: NDArray[np.float64]
    scatter: Vector

    def __add__(self, other: Form) -> Form:
        return Form(self.matrix + other.matrix, self.scatter + other.scatter)

    def __sub__(self, other: Form) -> Form:
        return Form(self.matrix - other.matrix, self.scatter - other.scatter)

    def __rmul__(self, factor: float) -> Form:
        return Form(factor * self.matrix, factor * self.scatter)


@dataclass(frozen=True)
class Orbits:
    """The roles of a cell: sizes by name, and which of them are honest."""

    sizes: dict[str, int]
    honest: frozenset[str]

    @property
    def names(self) -> list[str]:
        """The roles that have a worker."""
        return [name for name, size in self.sizes.items() if size > 0]

    def size(self, name: str) -> int:
        """How many workers have the role."""
        return self.sizes.get(name, 0)

    def unit(self, name: str) -> Vector:
        """The coordinates of the mean of one role."""
        return np.array([float(other == name) for other in self.names])

    def honest_mean(self) -> Vector:
        """The coordinates of the mean of the honest vectors."""
        members = [name for name in self.names if name in self.honest]
        total = sum(self.sizes[name] for name in members)
        mean: Vector = np.sum([self.sizes[name] / total * self.unit(name) for name in members], axis=0)
        return mean

    def zero(self) -> Form:
        """The form that vanishes."""
        count = len(self.names)
        return Form(np.zeros((count, count)), np.zeros(count))

    def square(self, direction: Vector) -> Form:
        """||sum_o direction_o a_o||^2."""
        return Form(np.outer(direction, direction), np.zeros(len(self.names)))

    def distances(self, first: str, second: str) -> Form:
        """The sum of squared distances over ordered pairs, one from each role."""
        if not self.size(first) or not self.size(second):
            return self.zero()
        if first == second:
            return Form(self.zero().matrix, 2.0 * self.size(first) * self.unit(first))
        scatter = self.size(second) * self.unit(first) + self.size(first) * self.unit(second)
        difference = self.unit(first) - self.unit(second)
        return Form(self.size(first) * self.size(second) * np.outer(difference, difference), scatter)

    def variance(self) -> Form:
        """(1/|S|) sum over the honest of ||x_i - mean||^2."""
        mean = self.honest_mean()
        members = [name for name in self.names if name in self.honest]
        total = sum(self.sizes[name] for name in members)
        form = self.zero()
        for name in members:
            form = form + self.sizes[name] / total * self.square(self.unit(name) - mean)
            form = form + Form(self.zero().matrix, self.unit(name) / total)
        return form

    def visible(self, form: Form) -> Form:
        """The form without the scatters of roles with one worker, which are zero whatever their weight."""
        several = np.array([self.sizes[name] > 1 for name in self.names])
        return Form(form.matrix, np.where(several, form.scatter, 0.0))
