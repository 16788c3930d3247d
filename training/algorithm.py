"""Robust D-GD and robust D-SHB: Algorithms 1 and 2 of the paper, step by step.

In step t every honest worker i sends m_i = beta m_i + (1 - beta) g_i, g_i being its (stochastic) gradient at
theta_{t-1}, clipped if asked for; beta = 0 and exact gradients make it Algorithm 1. The Byzantine workers send what the
attack says, the server forms R_t = F(m_1, ..., m_n) and theta_t = theta_{t-1} - gamma_t R_t.

Output: of Algorithm 1 theta_{tau-1} with tau the first minimiser of ||R_t||; of Algorithm 2 one of theta_0 ..
theta_{T-1}, drawn uniformly.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kappaguard.rules.base.rule import Rule
from kappaguard.search.attacks.base import Aggregation, Attack
from kappaguard.search.attacks.directed import Directed
from kappaguard.training import device, measure
from kappaguard.training.messages import length_of, on_server, require_range
from kappaguard.training.problem import Problem
from kappaguard.training.randomness import reseeded
from kappaguard.training.schedule import Schedule
from kappaguard.training.step import Steps

if TYPE_CHECKING:
    from torch import Tensor

PHASES = ("honest", "attack", "aggregation", "rest")


@dataclass(frozen=True)
class Settings:
    """What the algorithm needs besides the problem, the rule and the attack."""

    n: int
    f: int
    steps: int
    schedule: Schedule
    momentum: float
    exact: bool
    """Exact gradients, and the output of Algorithm 1."""
    clip: float | None
    seed: int
    measure: str
    measure_every: int
    mark: str = ""
    """Of the configuration: a checkpoint of another one is refused."""
    flips: bool = False
    """All Byzantine workers send the mean of the honest workers' gradients on flipped labels."""


@dataclass(frozen=True)
class BestTested:
    """The best model of the last tests on a few samples, which is to be tested on all."""

    theta: Tensor
    step: int
    accuracy: float


@dataclass
class State:
    """All that a run is after some steps."""

    step: int
    theta: Tensor
    messages: Tensor
    memory: Any = None
    output: Tensor | None = None
    output_step: int | None = None
    least: float = float("inf")
    measured: measure.Point | None = None
    """The last point at which everything was measured: the next slope is taken from it."""
    candidate: BestTested | None = None


def drawn_iterate(settings: Settings) -> int:
    """The number of the theta that Algorithm 2 outputs, uniform over the iterates."""
    return int(np.random.default_rng((settings.seed, 3)).integers(settings.steps))


@dataclass
class Training(Steps):
    """A run that is carried on step by step."""

    problem: Problem
    rule: Aggregation
    attack: Attack | None
    settings: Settings
    state: State = field(init=False)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    elapsed: float = 0.0
    """Seconds that the run has taken up to its last checkpoint."""

    def __post_init__(self) -> None:
        import torch

        theta = self.problem.start()
        shape = (self.settings.n, self.problem.dimension)
        self.state = State(0, theta, torch.zeros(shape, dtype=theta.dtype, device=theta.device))
        self._gradients = torch.empty(
            (self.problem.workers, self.problem.dimension), dtype=theta.dtype, device=theta.device
        )
        self.drawn = drawn_iterate(self.settings)

    def _step(self) -> dict[str, Any]:
        settings, state = self.settings, self.state
        start = time.perf_counter()
        state.step += 1
        t, theta, m = state.step, state.theta, settings.n - settings.f
        losses = self._honest(t)
        honest = state.messages[:m]
        sent = time.perf_counter()
        record: dict[str, Any] = {"step": t}
        if self._one_glance_for_all:
            return self._after_one_glance(t, losses, record, (start, sent))
        if not self._one_glance_for_rule:
            # exactly rounded: the order is that of the threads
            require_range(t, math.fsum(float(each) for each in self._squares) ** 0.5, settings.n, theta.dtype)
        if settings.f and self.attack is not None:
            action = self.attack.act(
                on_server(honest), settings.f, reseeded(self.rule, settings.seed, 4, t), state.memory
            )
            state.messages[m:] = action.vectors.to(state.messages)
            state.memory = action.memory
            record |= {"eta": action.eta} if action.eta is not None else {}
        elif settings.f and settings.flips:
            state.messages[m:] = self.problem.flipped(theta, None if settings.exact else t, settings.clip)
        attacked = time.perf_counter()
        if self._one_glance_for_rule:
            aggregate, loss = self._seen(t, losses[:m].mean())
        else:
            aggregate, loss = self._aggregate(t), float(losses[:m].mean())
        aggregated = time.perf_counter()
        record |= {"batch_loss": loss}
        return self._finish(t, aggregate, length_of(aggregate), record, (start, sent, attacked, aggregated))

    def _seen(self, t: int, loss: Tensor) -> tuple[Tensor, float]:
        """The aggregate and the loss after one look at all messages; more looks if one of them is very far away."""
        settings, state = self.settings, self.state
        rule = reseeded(self.rule, settings.seed, 5, t)
        assert isinstance(rule, Rule)
        near = settings.n - settings.f
        glance = device.look(state.messages, None, rule, device.facts(self._squares, loss), near=near)
        require_range(t, glance.facts[0] ** 0.5, settings.n, state.theta.dtype)
        found = self._aggregate(t) if glance.far else device.aggregate(glance, rule)
        return found, glance.facts[1]

    def _finish(
        self, t: int, aggregate: Tensor, length: float, record: dict[str, Any], times: tuple[float, float, float, float]
    ) -> dict[str, Any]:
        """The end of a step, and what its parts took."""
        theta, honest = self.state.theta, self.state.messages[: self.settings.n - self.settings.f]

        def measured() -> dict[str, float]:
            found = measure.of_messages(honest, aggregate)
            if self.settings.measure == "full":
                found |= measure.of_gradients(self.problem, theta, honest, self._gradients)
                longest = float(self._gradients.norm(dim=1).max())
                mean = self._gradients[: len(honest)].mean(dim=0)
                found |= self._slope(measure.Point(theta.clone(), mean, longest))
            return found

        record = self._descend(t, aggregate, length, record, measured)
        self._clock(*times)
        return record

    def _after_one_glance(
        self, t: int, losses: Tensor, record: dict[str, Any], times: tuple[float, float]
    ) -> dict[str, Any]:
        """Attack, rule and descent where the CPU looks twice: at what decides, and at what came out."""
        import torch

        settings, state, m = self.settings, self.state, self.settings.n - self.settings.f
        attacked = reseeded(self.rule, settings.seed, 4, t)
        server = reseeded(self.rule, settings.seed, 5, t)
        assert isinstance(attacked, Rule)
        assert isinstance(server, Rule)
        facts = device.facts(self._squares, losses[:m].mean())
        glance = device.look(state.messages[:m], self.attack, attacked, facts)
        square, loss = glance.facts
        require_range(t, square**0.5, settings.n, state.theta.dtype)
        answer = device.answer(glance, self.attack, attacked, server, settings.f)
        state.messages[m:] = answer.vector
        ends = torch.stack([answer.aggregate.norm(dtype=torch.float64), answer.eta]).cpu().tolist()
        done = time.perf_counter()
        record |= {"eta": ends[1]} if isinstance(self.attack, Directed) else {}
        record |= {"batch_loss": loss}
        return self._finish(t, answer.aggregate, ends[0], record, (*times, done, done))

    def _aggregate(self, t: int) -> Tensor:
        messages, rule = on_server(self.state.messages), reseeded(self.rule, self.settings.seed, 5, t)
        result: Tensor = rule(messages).to(self.state.theta)
        return result

    def _clock(self, start: float, sent: float, attacked: float, aggregated: float) -> None:
        parts = (sent - start, attacked - sent, aggregated - attacked, time.perf_counter() - aggregated)
        for phase, seconds in zip(PHASES, parts, strict=True):
            self.seconds[phase] += seconds
