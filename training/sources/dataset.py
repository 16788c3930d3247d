"""Gradients of a data set's workers at one point of training: at the start, or after some steps.

The setting is that of the data set's preset. Workers send what they send in the first step of D-SHB without momentum:
the clipped stochastic gradient of their loss. Rounds differ in the batches alone, so that they are independent draws.
The point after T steps is where T steps of D-SHB with the honest workers alone, and their average, lead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError
from kappaguard.training.sources.source import Report, Source, StreamRound

if TYPE_CHECKING:
    from kappaguard.training.configuration import Configuration
    from kappaguard.training.problem import Problem

DISTANT = 1_000_000
"""Numbers of batches from here on are for rounds: the steps before the point draw the first ones."""
SETTINGS = ("alpha", "split", "batch", "clip", "l2", "model", "samples")
"""What may be given besides ``after``; the rest is as in the preset."""


@dataclass(frozen=True, eq=False)
class Gradients(Source):
    """Stochastic gradients of m workers, and of f label flippers, after some steps of a configuration.

    ``point`` is theta once it is known; ``prepared`` finds it.
    """

    configuration: Configuration
    after: int = 0
    point: NDArray[Any] | None = None
    name: str = ""

    flips = True

    @property
    def label(self) -> str:
        """The source as it was asked for."""
        return self.name

    @property
    def workers(self) -> int:
        """How many honest workers there are."""
        return self.configuration.honest

    @property
    def dimension(self) -> int:
        """The number of parameters of the network."""
        return self._problem.dimension

    @property
    def honest(self) -> tuple[int, ...]:
        """All workers of the source are honest."""
        return tuple(range(self.workers))

    @property
    def fingerprint(self) -> str:
        """Every setting, and how far the training went."""
        return f"{self.configuration.mark()} {self.after}"

    @cached_property
    def _problem(self) -> Problem:
        from kappaguard.training.build import problem_of

        return problem_of(
            self.configuration.with_values({"attack": "lf"}) if self.configuration.f else self.configuration
        )

    def __getstate__(self) -> dict[str, Any]:
        # other processes read the data themselves
        return {key: value for key, value in self.__dict__.items() if key != "_problem"}

    def prepared(self, report: Report | None = None) -> Gradients:
        """The same with the point found: other processes need not train again."""
        from kappaguard.training.build import build
        from kappaguard.training.run import run

        if self.point is not None or self.after == 0:
            return self
        alone = self.configuration.with_values(
            {
                "n": self.configuration.honest,
                "f": 0,
                "rule": "average",
                "attack": "none",
                "steps": self.after,
                "evaluate_every": 0,
                "measure": "none",
            }
        )
        training = build(alone)
        if run(training, alone, report=report or _silent).status != "finished":
            raise InputError(f"{self.label}: training diverges before step {self.after}")
        return Gradients(self.configuration, self.after, training.state.theta.cpu().numpy().copy(), self.name)

    def rounds(self, begin: int, end: int) -> Iterator[StreamRound]:
        """One batch per worker and round."""
        import torch

        from kappaguard.training.messages import on_server, send

        found = self.prepared()
        problem, clip = self._problem, self.configuration.clip
        theta = problem.start()
        if found.point is not None:
            theta = torch.from_numpy(found.point).to(theta)
        m = problem.honest
        for number in range(begin, end):
            gradients = torch.empty((problem.workers, problem.dimension), dtype=theta.dtype, device=theta.device)
            messages = torch.zeros_like(gradients)

            def finish(first: int, last: int, decay: float, own: Any = messages, seen: Any = gradients) -> None:
                send(own[first:last], seen[first:last], theta, decay, 0.0, clip)

            problem.stochastic(theta, DISTANT + number, gradients, finish)
            sent = on_server(messages)
            rows: Any = sent.numpy() if sent.device.type == "cpu" else sent
            if not np.all(np.isfinite(rows)) if isinstance(rows, np.ndarray) else not bool(rows.isfinite().all()):
                raise InputError(f"{self.label}: the gradients of round {number} are not finite")
            yield StreamRound(rows[:m], tuple(range(m)), rows[m:])


def _silent(done: int, total: int) -> None:
    """What hears of progress where nobody asked for it."""
