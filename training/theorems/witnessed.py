"""The convergence theorems on worst inputs: what a witness of kappa* does to training.

Let x and S be a witness: ||F(x) - mean_S||^2 = kappa* G^2 with G^2 the variance of the x_i over S. Worker i, honest if
it is in S, has the loss

    L_i(theta) = 1/2 theta^T A theta + x_i^T theta,

whose gradient A theta + x_i is x_i moved by a vector that all workers share; the Byzantine workers follow the protocol
with losses of the same kind. So a rule that follows translations and scalings returns A theta + F(x) for exact
gradients, and the same for momenta once their first values are forgotten. The algorithms come to rest where
A theta = -F(x), and

    ||grad L_H||^2 = ||A theta + mean_S||^2 = ||F(x) - mean_S||^2 = kappa* G^2

there: certificate, rule and trainer meet in one number. A is 1 in the coordinates of x. In further ones, where all x_i
are zero, its entries are spread down to 1/condition: there the error falls as slowly as the theorems allow, for every
rule alike, on top of kappa* G^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.arrays import Array
from kappaguard.search.attacks.base import Aggregation, Total
from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.problem import Evaluation, Finish, Known, Problem
from kappaguard.training.theorems.constants import Constants

if TYPE_CHECKING:
    from torch import Tensor

RATE, MOMENTUM = 0.1, 0.9
"""Of D-SHB without noise, whose theorem would have no momentum then."""


@dataclass(frozen=True)
class Ordered:
    """A rule for messages in another order: row ``order[i]`` of them is vector i of the witness. Ties may need it."""

    rule: Aggregation
    order: tuple[int, ...]

    def __call__(self, messages: Array) -> Array:
        """The rule's output on the vectors in the order of the witness."""
        return self.rule(messages[list(self.order)])


@dataclass(eq=False)
class Displaced(Problem):
    """The losses of a witness, honest workers first; ``extra`` coordinates in which all are equal.

    The start is ``begin`` in the coordinates of the witness, or zero; in the others it is ``distance`` away from the
    minimum, with the same loss in every direction. A sample adds sigma times a random signed unit vector to the
    gradient of an honest worker; if it is ``shared``, all workers have the same sample.
    """

    shifts: NDArray[np.float64]
    honest: int
    extra: int = 0
    condition: float = 1e4
    distance: float = 0.0
    sigma: float = 0.0
    shared: bool = False
    seed: int = 1
    begin: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        import torch

        n, width = self.shifts.shape
        self.flippers = n - self.honest
        self.dimension = width + self.extra
        further = np.geomspace(1 / self.condition, 1.0, self.extra) if self.extra else np.empty(0)
        self._curvature = torch.as_tensor(np.concatenate([np.ones(width), further]))
        self._shifts = torch.as_tensor(np.pad(self.shifts, ((0, 0), (0, self.extra))))
        self._mean = self._shifts[: self.honest].mean(dim=0)

    @property
    def heterogeneity(self) -> float:
        """G^2: the mean squared distance of the honest gradients from their mean."""
        own = self._shifts[: self.honest]
        return float(((own - self._mean) ** 2).sum() / self.honest)

    def host(self, workers: range, total: Total) -> None:
        """Nothing is spread over processes."""
        raise NotImplementedError

    def start(self) -> Tensor:
        """Where it is said to be, and away from the minimum in the further coordinates."""
        import torch

        start = torch.zeros(self.dimension, dtype=torch.float64)
        if self.begin is not None:
            start[: len(self.begin)] = torch.as_tensor(self.begin)
        if self.extra:
            point = self._curvature[-self.extra :] ** -0.5
            start[-self.extra :] = point * (self.distance / point.norm())
        return start

    def gradient_squared(self, theta: Tensor) -> float:
        """||grad L_H(theta)||^2 at given parameters."""
        return float(((self._curvature * theta + self._mean) ** 2).sum())

    def gap(self) -> float:
        """L_H(theta_0) - L*, the minimum being at -A^-1 mean."""
        point = self.start() + self._mean / self._curvature
        return float((self._curvature * point * point).sum() / 2)

    def exact(self, theta: Tensor, out: Tensor, learn: bool = False) -> Tensor:
        """The workers' gradients A theta + x_i."""
        out.copy_((self._curvature * theta)[None] + self._shifts)
        return (self._curvature * theta * theta).sum() / 2 + self._shifts @ theta

    def stochastic(self, theta: Tensor, step: int, out: Tensor, finish: Finish) -> Tensor:
        """The gradients with noise."""
        import torch

        losses = self.exact(theta, out)
        if self.sigma > 0:
            generator = np.random.default_rng((self.seed, 9, step))
            samples = 1 if self.shared else self.honest
            place = generator.integers(self.dimension, size=samples)
            sign = generator.choice([-1.0, 1.0], size=samples) * self.sigma
            if self.shared:
                out[:, place[0]] += sign[0]
            else:
                out[np.arange(samples), place] += torch.as_tensor(sign)
        finish(0, self.workers, 0.0)
        return losses

    def noise(self, theta: Tensor) -> float:
        """The noise sigma^2, which is the same everywhere."""
        return self.sigma**2

    def evaluate(self, theta: Tensor, samples: int = 0) -> Evaluation:
        """The loss L_H of the honest workers."""
        return Evaluation(float((self._curvature * theta * theta).sum() / 2 + self._mean @ theta))

    def known(self) -> Known:
        """L = 1, and the least value of L_H."""
        return Known(1.0, -float((self._mean**2 / self._curvature).sum() / 2))


@dataclass(frozen=True)
class Trajectory:
    """||grad L_H||^2 at theta_0 .. theta_T, and at what Algorithm 1 outputs; G^2 and L_H(theta_0) - L*."""

    errors: tuple[float, ...]
    output: float | None
    spread: float
    gap: float

    @property
    def end(self) -> float:
        """What is left after the last step."""
        return self.errors[-1]

    @property
    def random(self) -> float:
        """The mean over theta_0 .. theta_{T-1}: what an output that is drawn at random has on average."""
        return float(np.mean(self.errors[:-1]))


def displaced(x: Sequence[Sequence[float]], honest: Sequence[int], **given: float) -> tuple[Displaced, tuple[int, ...]]:
    """The losses of a witness in units in which G = 1, and the order that gives its vectors back."""
    rows = np.array(x, dtype=np.float64)
    others = [index for index in range(len(rows)) if index not in set(honest)]
    places = [*honest, *others]
    rows = rows[places]
    own = rows[: len(honest)]
    rows = rows - own.mean(axis=0)
    spread = float(np.sqrt((rows[: len(honest)] ** 2).sum() / len(honest)))
    order = tuple(places.index(index) for index in range(len(rows)))
    return Displaced(rows / spread, len(honest), **given), order  # type: ignore[arg-type]


def at_rest(rule: Aggregation, problem: Displaced, order: tuple[int, ...]) -> Displaced:
    """The same losses with a start where the algorithms come to rest, as far as the witness goes: at -F(x)."""
    import torch

    output = Ordered(rule, order)(torch.as_tensor(problem.shifts))
    return replace(problem, begin=-np.asarray(output))


def course(
    rule: Aggregation, problem: Displaced, order: tuple[int, ...], steps: int, kappa: float | None
) -> Trajectory:
    """A run: Algorithm 1 with gamma = 1/L if there is no ``kappa``, else Algorithm 2.

    With noise its step size and momentum are those of Theorem 2 for that kappa; without, RATE and MOMENTUM.
    """
    n, f = problem.workers, problem.flippers
    rate, momentum = (1.0, 0.0) if kappa is None else (RATE, MOMENTUM)
    if kappa is not None and problem.sigma > 0:
        stated = Constants(1.0, problem.gap(), problem.heterogeneity, problem.sigma**2, kappa, n, f, steps)
        rate, momentum = stated.rate(), stated.momentum()
    settings = Settings(n, f, steps, lambda t: rate, momentum, kappa is None, None, problem.seed, "none", 1)
    training = Training(problem, Ordered(rule, order), None, settings)
    errors = [problem.gradient_squared(training.state.theta)]
    for _ in range(steps):
        training.step()
        errors.append(problem.gradient_squared(training.state.theta))
    at = training.state.output
    output = None if kappa is not None or at is None else problem.gradient_squared(at)
    return Trajectory(tuple(errors), output, problem.heterogeneity, problem.gap())
