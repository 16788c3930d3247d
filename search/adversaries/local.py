"""Local search: one worker, one coordinate, one tie at a time, from the best inputs.

Moves of an input: an entry up or down; a worker, or all workers of its group together, towards, onto, half-way to or
away from another; the Byzantine vectors nearer to or further from the honest mean. The step is halved when nothing
helps. Moves onto and half-way to others make exact ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats, Integers
from kappaguard.search.grouped import distinct

MOVES = 96
SMALLEST = 1e-7


@dataclass(frozen=True)
class LocalSearch(Adversary):
    """Descends from each of the best inputs in turn."""

    name = "local"
    rounds: int = 120

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """For ever: the pool changes."""
        turn = 0
        while True:
            pool = arena.pool[:6]
            if not pool:
                d = arena.dimensions()[turn % 2 % len(arena.dimensions())]
                arena.ratios(generator.normal(size=(16, arena.n, d)))
                yield
                turn += 1
                continue
            candidate = pool[turn % len(pool)]
            turn += 1
            yield from self._climb(arena, generator, candidate.x, candidate.ratio, candidate.arrangement)

    def _climb(
        self, arena: Arena, generator: np.random.Generator, x: Floats, ratio: float, order: tuple[int, ...]
    ) -> Iterator[None]:
        step, groups = 0.25, distinct(x).places[0]
        for turn in range(self.rounds):
            trials = _moves(arena, generator, x, step, groups)
            ratios = arena.ratios(trials, order)
            best = int(np.argmax(ratios))
            if ratios[best] > ratio * (1 + 1e-12):
                x, ratio = trials[best], float(ratios[best])
                step = min(1.0, step * 1.5)
            else:
                step /= 2
            if turn % 4 == 3:
                yield
            if step < SMALLEST:
                break
        yield


def _moves(arena: Arena, generator: np.random.Generator, x: Floats, step: float, groups: Integers) -> Floats:
    n, d = x.shape
    size = float(np.max(np.ptp(x, axis=0))) or 1.0
    trials = np.repeat(x[None], MOVES, axis=0)
    together = generator.random(MOVES) < 0.6
    for row in range(MOVES):
        worker = int(generator.integers(n))
        who = groups == groups[worker] if together[row] else np.arange(n) == worker
        kind = row % 6
        if kind < 2:
            trials[row, who, generator.integers(d)] += step * size * generator.choice([-1.0, 1.0])
        elif kind < 5:
            other = x[int(generator.integers(n))] if kind < 4 else x[: arena.m].mean(axis=0)
            share = (
                float(generator.choice([step, -step, 1.0, 0.5, 2.0])) if kind == 3 else generator.choice([step, -step])
            )
            trials[row, who] += share * (other - x[worker])
        else:
            trials[row] += step * size * generator.normal(size=x.shape) * (generator.random((n, 1)) < 2 / n)
    return trials
