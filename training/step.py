"""What a step is, whether one process holds all messages or each of several holds some: sending, output and descent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kappaguard.training import device
from kappaguard.training.measure import Point, due, slope
from kappaguard.training.messages import Diverged, descend, send
from kappaguard.training.threads import undivided

if TYPE_CHECKING:
    from torch import Tensor

    from kappaguard.search.attacks.base import Aggregation, Attack
    from kappaguard.training.algorithm import Settings, State
    from kappaguard.training.problem import Problem


class Steps(ABC):
    """What local and distributed training share: everything but how attack and rule see the messages."""

    if TYPE_CHECKING:
        problem: Problem
        settings: Settings
        state: State
        rule: Aggregation
        attack: Attack | None
        drawn: int
        _gradients: Tensor
        _squares: list[float | Tensor]

    def step(self) -> dict[str, Any]:
        """One step; what is recorded of it, the same in every process."""
        with undivided(self.state.theta.device.type):
            return self._step()

    @abstractmethod
    def _step(self) -> dict[str, Any]:
        """One step, with threads as they are."""

    def _honest(self, t: int) -> Tensor:
        """The workers' messages, in place; a label flipper is a worker like any other, with other labels."""
        theta, gradients = self.state.theta, self._gradients
        self._squares = []
        if not self.settings.exact:
            return self.problem.stochastic(theta, t, gradients, self._send)
        losses = self.problem.exact(theta, gradients, learn=True)
        self._send(0, len(gradients), 0.0)
        return losses

    def _send(self, begin: int, end: int, decay: float) -> None:
        """Clipping and momentum of some workers."""
        settings, state = self.settings, self.state
        rows = state.messages[begin:end], self._gradients[begin:end]
        self._squares.append(send(*rows, state.theta, decay, settings.momentum, settings.clip))

    def _descend(
        self, t: int, aggregate: Tensor, length: float, record: dict[str, Any], measured: Callable[[], dict[str, float]]
    ) -> dict[str, Any]:
        """What is measured of a step, its output, and the descent along the whole aggregate."""
        settings, state, theta = self.settings, self.state, self.state.theta
        if not np.isfinite(length):
            raise Diverged(t)
        record |= {"rate": settings.schedule(t)}
        if due(settings.measure, settings.measure_every, t, settings.steps):
            record |= measured()
        if length < state.least if settings.exact else t - 1 == self.drawn:
            state.output, state.output_step, state.least = theta.clone(), t - 1, length
        descend(t, theta, aggregate, settings.schedule(t))
        return record

    def _slope(self, now: Point) -> dict[str, float]:
        """How steep the gradient is between the last point that was measured and this one."""
        before, self.state.measured = self.state.measured, now
        return slope(before, now)

    @cached_property
    def _one_glance_for_all(self) -> bool:
        """Whether one look of the CPU at the device will do for attack and rule, see ``kappaguard.training.device``."""
        return self._one_glance_for_rule and self.settings.f > 0 and device.fits(self.attack, self.rule)

    @cached_property
    def _one_glance_for_rule(self) -> bool:
        """Whether one look is enough for the rule, whatever the attack is."""
        return device.is_there(self.state.theta) and device.fits_rule(self.rule)
