"""The same algorithms, spread over processes; the trajectory is that of a single process up to rounding.

A process holds the whole messages of its own workers and, after resharding, its share of the coordinates of all
messages: n d/size numbers. Attack and rule work on that share; what they need of whole vectors, Gram matrices and inner
products, is summed over the processes. Only vectors of length d, the aggregate and theta, are everywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kappaguard.rules.base import Rule
from kappaguard.rules.errors import InputError
from kappaguard.search.attacks.base import Attack
from kappaguard.search.attacks.mimic import Memory, Mimic
from kappaguard.training.algorithm import Settings, Training
from kappaguard.training.distributed.cloud import aggregate, attackable, require_shardable
from kappaguard.training.distributed.group import Group, slice_of
from kappaguard.training.learning import Learning
from kappaguard.training.messages import Diverged, on_server, require_range, send
from kappaguard.training.problem import Problem
from kappaguard.training.randomness import reseeded
from kappaguard.training.threads import undivided

if TYPE_CHECKING:
    from torch import Tensor

KEPT = 2
"""Checkpoints per process: the last may be missing in a process that died."""


@dataclass
class DistributedTraining:
    """One process of a run."""

    problem: Problem
    rule: Rule
    attack: Attack | None
    settings: Settings
    group: Group
    number: int = 0
    theta: Tensor = field(init=False)
    messages: Tensor = field(init=False)
    output: Tensor | None = None
    output_step: int | None = None
    least: float = float("inf")
    memory: Any = None

    @classmethod
    def of(cls, training: Training, group: Group) -> DistributedTraining:
        """This process's share of a run that has just been built."""
        if not isinstance(training.problem, Learning):
            raise InputError("only learning from data can be spread over processes")
        return cls(training.problem, require_shardable(training.rule), training.attack, training.settings, group).begun(
            training
        )

    def begun(self, training: Training) -> DistributedTraining:
        """At step 0."""
        import torch

        hosted = self.group.part(self.problem.workers)
        if len(hosted) == 0:
            raise InputError(f"{self.problem.workers} workers are too few for {self.group.size} processes")
        self.problem.host(hosted, self.group.total)
        self.theta, self.drawn = training.state.theta, training.drawn
        shape = (len(hosted), self.problem.dimension)
        self.messages = torch.zeros(shape, dtype=self.theta.dtype, device=self.theta.device)
        self._gradients = torch.empty_like(self.messages)
        return self

    def step(self) -> dict[str, Any]:
        """One step; what is recorded of it, the same in every process."""
        with undivided(self.theta.device.type):
            return self._step()

    def _step(self) -> dict[str, Any]:
        import torch

        settings, group, d = self.settings, self.group, self.problem.dimension
        t = self.number + 1
        if settings.exact:
            losses = self.problem.exact(self.theta, self._gradients, learn=True)
            self._send(0, len(self.messages))
        else:
            losses = self.problem.stochastic(self.theta, t, self._gradients, self._send)
        square = on_server((self.messages**2).sum()).double()
        require_range(t, float(group.total(square)) ** 0.5, settings.n, self.theta.dtype)
        shard = group.reshard(self.messages, self.problem.workers)
        m = settings.n - settings.f
        eta = None
        if settings.f and self.attack is not None:
            known = attackable(require_shardable(reseeded(self.rule, settings.seed, 4, t)), group.total)
            if isinstance(self.attack, Mimic) and self.memory is None:
                self.memory = self._first_memory(self.attack, shard[:m])
            action = self.attack.act(shard[:m], settings.f, known, self.memory, group.total)
            self.memory = action.memory
            shard, eta = torch.cat([shard[:m], action.vectors.to(shard)]), action.eta
        elif len(shard) < settings.n:
            silent = torch.zeros((settings.n - len(shard), shard.shape[1]), dtype=shard.dtype, device=shard.device)
            shard = torch.cat([shard, silent])
        drawn = require_shardable(reseeded(self.rule, settings.seed, 5, t))
        mine = aggregate(drawn, shard, group.total).to(self.theta)
        whole = group.gather(mine, d)
        length = float(on_server(whole).norm(dtype=torch.float64))
        if not np.isfinite(length):
            raise Diverged(t)
        mean = shard[:m].mean(dim=0)
        sums = torch.stack([((mine - mean) ** 2).sum(), ((shard[:m] - mean) ** 2).sum() / m]).double()
        error, variance = group.total(sums).tolist()
        own = max(0, min(m, group.part(self.problem.workers).stop) - group.part(self.problem.workers).start)
        loss = float(group.total(losses[:own].sum().double())) / m
        if length < self.least if settings.exact else t - 1 == self.drawn:
            self.output, self.output_step, self.least = self.theta.clone(), t - 1, length
        self.theta.sub_(whole, alpha=settings.schedule(t))
        self.number = t
        ratio = error / variance if variance > 0 else (float("inf") if error > 0 else 0.0)
        record = {"step": t, "batch_loss": loss, "rate": settings.schedule(t), "error_squared": error}
        return record | {"drift": variance, "kappa_hat": ratio} | ({} if eta is None else {"eta": eta})

    def _first_memory(self, attack: Mimic, honest: Tensor) -> Memory:
        """What mimic starts from, cut out of the whole vector: the same as in a single process."""
        import torch

        drawn = np.random.default_rng(attack.seed).standard_normal(self.problem.dimension)
        own = torch.as_tensor(drawn / np.linalg.norm(drawn))[slice_of(self.group.part(self.problem.dimension))]
        return Memory(honest.mean(dim=0), own.to(honest), torch.zeros_like(honest[:, 0]), 0)

    def _send(self, begin: int, end: int) -> None:
        settings = self.settings
        send(self.messages[begin:end], self._gradients[begin:end], settings.momentum, settings.clip)

    def save(self, folder: Path) -> None:
        """This process's part of a checkpoint; the newest two are kept."""
        import torch

        assert isinstance(self.problem, Learning)
        content = {
            "step": self.number,
            "theta": self.theta,
            "messages": self.messages,
            "output": self.output,
            "output_step": self.output_step,
            "least": self.least,
            "memory": asdict(self.memory) if isinstance(self.memory, Memory) else None,
            "statistics": self.problem.statistics,
        }
        path = folder / f"checkpoint-{self.group.rank}of{self.group.size}-{self.number}.pt"
        beside = path.with_suffix(".new")
        torch.save(content, beside)
        beside.replace(path)
        for old in sorted(folder.glob(f"checkpoint-{self.group.rank}of{self.group.size}-*.pt"), key=_step_of)[:-KEPT]:
            old.unlink()

    def restore(self, folder: Path) -> bool:
        """Go back to the newest step of which every process has its part; whether there is one."""
        import torch

        size = self.group.size
        steps = [{_step_of(path) for path in folder.glob(f"checkpoint-{rank}of{size}-*.pt")} for rank in range(size)]
        common = set.intersection(*steps)
        if not common:
            return False
        path = folder / f"checkpoint-{self.group.rank}of{size}-{max(common)}.pt"
        content = torch.load(path, map_location=self.theta.device, weights_only=True)
        self.theta.copy_(content["theta"])
        self.messages.copy_(content["messages"])
        self.number, self.least = content["step"], content["least"]
        self.output, self.output_step = content["output"], content["output_step"]
        self.memory = None if content["memory"] is None else Memory(**content["memory"])
        assert isinstance(self.problem, Learning)
        self.problem.statistics[:] = content["statistics"]
        return True


def _step_of(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])
