"""The same algorithms, spread over processes; the trajectory is that of a single process up to rounding.

A process holds the whole messages of its own workers and, after resharding, its share of the coordinates of all
messages: n d/size numbers. Attack and rule work on that share; what they need of whole vectors, Gram matrices and inner
products, is summed over the processes. Only vectors of length d, the aggregate and theta, are everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.search.attacks.base import Aggregation, Attack
from kappaguard.search.attacks.directed import Directed
from kappaguard.search.attacks.mimic import Memory, Mimic
from kappaguard.training import device
from kappaguard.training.algorithm import Settings, State, drawn_iterate
from kappaguard.training.checkpoint import restore, save
from kappaguard.training.distributed import measure
from kappaguard.training.distributed.cloud import aggregate, attackable, require_shardable
from kappaguard.training.distributed.group import Group, slice_of
from kappaguard.training.messages import length_of, on_server, require_range
from kappaguard.training.problem import Problem
from kappaguard.training.randomness import reseeded
from kappaguard.training.step import Steps

if TYPE_CHECKING:
    from torch import Tensor

KEPT = 2
"""Checkpoints per process: the last may be missing in a process that died."""


@dataclass
class DistributedTraining(Steps):
    """One process of a run; the messages of its state are those of its own workers."""

    problem: Problem
    rule: Rule
    attack: Attack | None
    settings: Settings
    group: Group
    drawn: int
    state: State
    seconds: dict[str, float] = field(default_factory=dict)
    elapsed: float = 0.0

    def __post_init__(self) -> None:
        import torch

        self._gradients = torch.empty_like(self.state.messages)

    @classmethod
    def of(
        cls, problem: Problem, rule: Aggregation, attack: Attack | None, settings: Settings, group: Group
    ) -> DistributedTraining:
        """This process's share of a run: it has room for the messages of its own workers only."""
        import torch

        theta = problem.start()
        whole = require_shardable(rule)
        hosted = group.part(problem.workers)
        if problem.workers < group.size:
            raise InputError(f"{problem.workers} workers are too few for {group.size} processes")
        problem.host(hosted, group.total)
        messages = torch.zeros((len(hosted), problem.dimension), dtype=theta.dtype, device=theta.device)
        state = State(0, theta, messages)
        return cls(problem, whole, attack, settings, group, drawn_iterate(settings), state)

    def _step(self) -> dict[str, Any]:
        import torch

        settings, state, group, d = self.settings, self.state, self.group, self.problem.dimension
        state.step += 1
        t, theta, m = state.step, state.theta, settings.n - settings.f
        losses = self._honest(t)
        if self._one_glance_for_all:
            return self._after_one_glance(t, losses)
        if not self._one_glance_for_rule:
            square = on_server(theta.new_zeros(())).double() + math.fsum(float(each) for each in self._squares)
            require_range(t, float(group.total(square)) ** 0.5, settings.n, theta.dtype)
        shard = group.reshard(state.messages, self.problem.workers)
        record: dict[str, Any] = {"step": t}
        if settings.f and self.attack is not None:
            known = attackable(require_shardable(reseeded(self.rule, settings.seed, 4, t)), group.total)
            if isinstance(self.attack, Mimic) and state.memory is None:
                state.memory = self._first_memory(self.attack, shard[:m])
            action = self.attack.act(shard[:m], settings.f, known, state.memory, group.total)
            state.memory = action.memory
            shard = torch.cat([shard[:m], action.vectors.to(shard)])
            record |= {"eta": action.eta} if action.eta is not None else {}
        elif settings.f and settings.flips:
            wrong = self.problem.flipped(theta, None if settings.exact else t, settings.clip)
            mine = wrong[slice_of(group.part(d))]
            shard = torch.cat([shard[:m], mine.expand(settings.f, -1)])
        elif len(shard) < settings.n:
            silent = torch.zeros((settings.n - len(shard), shard.shape[1]), dtype=shard.dtype, device=shard.device)
            shard = torch.cat([shard, silent])
        drawn = require_shardable(reseeded(self.rule, settings.seed, 5, t))
        if self._one_glance_for_rule:
            facts = device.facts(self._squares, losses[: self._own].sum() / m)
            glance = device.look(shard, None, drawn, facts, group.total, near=m)
            square_sum, loss = glance.facts
            require_range(t, square_sum**0.5, settings.n, theta.dtype)
            mine = aggregate(drawn, shard, group.total).to(theta) if glance.far else device.aggregate(glance, drawn)
        else:
            mine = aggregate(drawn, shard, group.total).to(theta)
            loss = float(group.total(on_server(losses[: self._own].sum()).double())) / m
        whole = group.gather(mine, d)
        length = length_of(whole)
        record |= {"batch_loss": loss}
        return self._finish(t, shard[:m], mine, whole, length, record)

    @cached_property
    def _own(self) -> int:
        """How many honest workers this process hosts."""
        hosted = self.group.part(self.problem.workers)
        return max(0, min(self.problem.honest, hosted.stop) - hosted.start)

    def _after_one_glance(self, t: int, losses: Tensor) -> dict[str, Any]:
        """The same step where the CPU looks twice: at what decides, and at what came out."""
        import torch

        settings, state, group, d = self.settings, self.state, self.group, self.problem.dimension
        m = settings.n - settings.f
        attacked = require_shardable(reseeded(self.rule, settings.seed, 4, t))
        server = require_shardable(reseeded(self.rule, settings.seed, 5, t))
        shard = group.reshard(state.messages, self.problem.workers)
        facts = device.facts(self._squares, losses[: self._own].sum() / m)
        widest = max(device.sample_width(len(group.part(d, rank))) for rank in range(group.size))
        glance = device.look(
            shard[:m], self.attack, attacked, facts, group.total, lambda table: group.gather_columns(table, widest)
        )
        square, loss = glance.facts
        require_range(t, square**0.5, settings.n, state.theta.dtype)
        answer = device.answer(glance, self.attack, attacked, server, settings.f, group.total)
        whole = group.gather(answer.aggregate, d)
        length, eta = torch.stack([whole.norm(dtype=torch.float64), answer.eta]).cpu().tolist()
        record = {"step": t} | ({"eta": eta} if isinstance(self.attack, Directed) else {}) | {"batch_loss": loss}
        return self._finish(t, shard[:m], answer.aggregate, whole, length, record)

    def _finish(
        self, t: int, honest: Tensor, mine: Tensor, whole: Tensor, length: float, record: dict[str, Any]
    ) -> dict[str, Any]:
        """The end of a step, of which this process has a shard of the messages and of the aggregate."""

        def measured() -> dict[str, float]:
            found, state = measure.of_messages(honest, mine, length, self.group), self.state
            if self.settings.measure == "full":
                given = (self.problem, state.theta, state.messages, self._gradients, self.group)
                full, point = measure.of_gradients(*given)
                found |= full | self._slope(point)
            return found

        return self._descend(t, whole, length, record, measured)

    def _first_memory(self, attack: Mimic, honest: Tensor) -> Memory:
        """What mimic starts from, cut out of the whole vector: the same as in a single process."""
        import torch

        drawn = np.random.default_rng(attack.seed).standard_normal(self.problem.dimension)
        own = torch.as_tensor(drawn / np.linalg.norm(drawn))[slice_of(self.group.part(self.problem.dimension))]
        return Memory(honest.mean(dim=0), own.to(honest), torch.zeros_like(honest[:, 0]), 0)

    def save(self, folder: Path) -> None:
        """This process's part of a checkpoint; the newest two are kept."""
        name = f"checkpoint-{self.group.rank}of{self.group.size}"
        save(self, folder / f"{name}-{self.state.step}.pt")
        for old in sorted(folder.glob(f"{name}-*.pt"), key=_step_of)[:-KEPT]:
            old.unlink()

    def restore(self, folder: Path) -> bool:
        """Go back to the newest step of which every process has its part; whether there is one."""
        size = self.group.size
        steps = [{_step_of(path) for path in folder.glob(f"checkpoint-{rank}of{size}-*.pt")} for rank in range(size)]
        common = set.intersection(*steps)
        if not common:
            return False
        path = folder / f"checkpoint-{self.group.rank}of{size}-{max(common)}.pt"
        restore(self, path)
        return True


def _step_of(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])
