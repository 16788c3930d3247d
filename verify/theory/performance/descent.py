"""The worst run of gradient descent with inexact gradients, as a semidefinite program.

Problem. Loss f with an L-Lipschitz gradient on R^d, bounded below by f*, not necessarily convex. For t = 1..T the
server holds theta_{t-1}, receives R_t with ||R_t - grad f(theta_{t-1})||^2 <= E and moves to
theta_t = theta_{t-1} - (s/L) R_t. The output is theta_{tau-1} with tau in argmin ||R_t||, or one of
theta_0..theta_{T-1} at random. How large can the squared gradient at the output be, given E and
D = f(theta_0) - f*?

Program. Only the Gram matrix of the vectors g_t = grad f(theta_t), R_t and the values f_t = f(theta_t) matter. They
belong to some such f if and only if, for all pairs,

    f_i >= f_j + <g_j, x_i - x_j> + 1/4 (||g_i - g_j||^2 / L - L ||x_i - x_j||^2 + 2 <g_i - g_j, x_i - x_j>)
    f_i >= f* + ||g_i||^2 / (2 L)

(Taylor, Hendrickx, Glineur, "Smooth strongly convex interpolation and exact worst-case performance of first-order
methods", Math. Program. 161, 2017, with modulus -L of strong convexity; the second line is in Drori and Shamir, "The
complexity of finding stationary points with stochastic gradient descent", ICML 2020, and in Abbaszadehpeivasti, de
Klerk, Zamani, "The exact worst-case convergence rate of the gradient method with fixed step lengths for L-smooth
functions", Optim. Lett. 16, 2022). All of this, and the output rule for a fixed tau, is linear in the Gram matrix, the
values, E and D. Units are chosen such that L = 1 and f* = 0. The optimum is exact for d >= 2 T; the rank of the optimal
Gram matrix is the dimension that the worst run needs.

Without error (E = 0 given) the vectors R_t are the g_t. A program that asks for ||R_t - g_t||^2 <= 0 instead has no
interior point, and whether a solver copes with that depends on the machine: so R_t = g_t is substituted, which also
halves the Gram matrix.

Because E and D are variables, one program answers a question about all of them: ``ratio`` is the supremum over E and D
of (squared gradient) / (a E + b L D / T), ``remainder`` the smallest b for a given a, ``value`` the worst case at one
E and D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kappaguard.search.exact.conic import Program, packed, solve, unpacked

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WorstRun:
    """The optimum and a run that attains it: E, D, and vectors in as many dimensions as the run needs."""

    value: float
    error: float
    gap: float
    gradients: Floats
    aggregates: Floats
    losses: Floats
    status: str

    @property
    def dimension(self) -> int:
        """The dimension of the worst run."""
        return int(self.gradients.shape[1])


@dataclass(frozen=True)
class Descent:
    """T steps of size ``step`` / L; ``output`` is tau, from 1 to T, or None for an iterate at random."""

    steps: int
    output: int | None = None
    step: float = 1.0

    def __post_init__(self) -> None:
        if self.steps < 1 or self.step <= 0 or (self.output is not None and not 1 <= self.output <= self.steps):
            raise ValueError(f"no such run: {self}")

    def ratio(self, error_weight: float, gap_weight: float, solver: str | None = None) -> WorstRun:
        """The supremum of (squared gradient) / (error_weight E + gap_weight L D / T); of any solver, or a given one."""
        return self._solve(solver, weights=(error_weight, gap_weight))

    def value(self, error: float, gap: float, solver: str | None = None) -> WorstRun:
        """The worst case at one E and D."""
        return self._solve(solver, fixed=(error, gap))

    def remainder(self, error_weight: float, solver: str | None = None) -> WorstRun:
        """The smallest b such that error_weight E + b L D / T is a bound for every E and D."""
        return self._solve(solver, price=error_weight)

    def _solve(
        self,
        solver: str | None,
        weights: tuple[float, float] | None = None,
        fixed: tuple[float, float] | None = None,
        price: float | None = None,
    ) -> WorstRun:
        count = self.steps
        erring = fixed is None or fixed[0] > 0
        size = 2 * count if erring else count
        basis = np.eye(size)
        gradients, aggregates = basis[:count], basis[-count:]
        points = -self.step * np.vstack([np.zeros(size), np.cumsum(aggregates, axis=0)[:-1]])
        # the variables: the packed Gram matrix, then these
        losses, (error, gap) = np.eye(count + 2)[:count], np.eye(count + 2)[count:]

        def row(matrix: Floats, others: Floats | float = 0.0) -> Floats:
            """<matrix, Gram> + others . (losses, error, gap)."""
            return np.concatenate([packed((matrix + matrix.T) / 2), others + np.zeros(count + 2)])

        nothing = np.zeros((size, size))
        below = [row(nothing, losses[0] - gap), row(nothing, -error), row(nothing, -gap)]
        for i in range(count):
            below.append(row(np.outer(gradients[i], gradients[i]) / 2, -losses[i]))
            if erring:
                away = aggregates[i] - gradients[i]
                below.append(row(np.outer(away, away), -error))
            others = (j for j in range(count) if j != i)
            below += [row(_interpolation(gradients, points, i, j), losses[j] - losses[i]) for j in others]
        if self.output is None:
            objective = row(gradients.T @ gradients / count)
        else:
            chosen = self.output - 1
            objective = row(np.outer(gradients[chosen], gradients[chosen]))
            least = np.outer(aggregates[chosen], aggregates[chosen])
            below += [row(least - np.outer(each, each)) for i, each in enumerate(aggregates) if i != chosen]
        if weights is not None:
            equal, values = [row(nothing, weights[0] * error + weights[1] / count * gap)], [1.0]
        elif fixed is not None:
            equal, values = [row(nothing, error), row(nothing, gap)], [*fixed]
        else:
            equal, values = [row(nothing, gap)], [float(count)]
            objective = objective - row(nothing, (price or 0.0) * error)
        inner = len(packed(nothing))
        semidefinite = np.hstack([-np.eye(inner), np.zeros((inner, count + 2))])
        matrix = np.vstack([*equal, *below, semidefinite])
        right = np.concatenate([values, np.zeros(len(below) + inner)])
        found = solve(Program(-objective, matrix, right, len(equal), len(below), size), solver)
        vectors = _factor(unpacked(found.point[:inner], size))
        rest = found.point[inner:]
        return WorstRun(
            float(objective @ found.point),
            float(rest[-2]),
            float(rest[-1]),
            vectors[:count],
            vectors[-count:],
            rest[:count],
            found.status,
        )


def _interpolation(gradients: Floats, points: Floats, i: int, j: int) -> Floats:
    """The matrix of the interpolation condition f_i >= f_j + ..., for L = 1."""
    turn, move = gradients[i] - gradients[j], points[i] - points[j]
    form: Floats = (
        np.outer(gradients[j], move) + (np.outer(turn, turn) - np.outer(move, move) + 2 * np.outer(turn, move)) / 4
    )
    return form


def _factor(gram: Floats, tolerance: float = 1e-4) -> Floats:
    """Vectors with this Gram matrix, in the fewest dimensions up to a relative tolerance on its eigenvalues."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > tolerance * values.max()
    factor: Floats = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    return factor
