"""What is to be minimised: the losses L_i of the honest workers, seen through their gradients at one point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.base import Total

if TYPE_CHECKING:
    from torch import Tensor

Finish = Callable[[int, int, float], None]


@dataclass(frozen=True)
class Known:
    """What the theorems need: L_H is L-smooth and nowhere below the infimum; None where nobody knows."""

    smoothness: float | None = None
    infimum: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """How good a model is: its loss, and its accuracy on the test data if there is such a thing."""

    loss: float
    accuracy: float | None = None


class Problem(ABC):
    """m honest workers, and possibly further ones that compute gradients of the same model on flipped labels."""

    honest: int
    flippers: int
    dimension: int

    @property
    def workers(self) -> int:
        """All workers that compute gradients."""
        return self.honest + self.flippers

    @abstractmethod
    def host(self, workers: range, total: Total) -> None:
        """From now on compute only the gradients of these workers; other processes compute the others'."""

    @abstractmethod
    def start(self) -> Tensor:
        """The parameters theta_0 to start from."""

    @abstractmethod
    def stochastic(self, theta: Tensor, step: int, out: Tensor, finish: Finish) -> Tensor:
        """Write the workers' stochastic gradients of a step to ``out`` (workers, d); return their losses.

        ``finish(begin, end, decay)`` is called for each range of workers whose gradients are there, all but their part
        ``decay`` theta, from any thread.
        """

    @abstractmethod
    def exact(self, theta: Tensor, out: Tensor, learn: bool = False) -> Tensor:
        """Write the gradients of the L_i to ``out`` (workers, d); return the L_i.

        With ``learn`` this is a step of training: running statistics move on, which a measurement leaves alone.
        """

    def flipped(self, theta: Tensor, step: int | None, clip: float | None) -> Tensor:
        """The mean over the honest workers of their gradients with flipped labels, each clipped.

        On the batches of a step, whose stochastic gradients have been asked for; on all data if it is None.
        """
        raise InputError("this problem has no labels to flip")

    @abstractmethod
    def noise(self, theta: Tensor) -> float:
        """sigma^2 at theta: max_i (1/|D_i|) sum over D_i of ||grad l(theta, z) - grad L_i(theta)||^2."""

    @abstractmethod
    def evaluate(self, theta: Tensor, samples: int = 0) -> Evaluation:
        """Loss and accuracy on the test data, or so many samples of it; the loss L_H where there is none."""

    @abstractmethod
    def known(self) -> Known:
        """Smoothness and infimum of L_H."""
