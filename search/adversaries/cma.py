"""CMA-ES (package ``cmaes``) on the groups of good inputs, and on all entries of small ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena
from kappaguard.search.grouped import Grouped, distinct, recovered

MOST_PARAMETERS = 80
WORST = 1e300
SLICE = 10
STEPS = (0.003, 0.03, 0.3)
LOADING = 2.0


@dataclass(frozen=True)
class CovarianceMatrixAdaptation(Adversary):
    """Starts from one of the best inputs, as orbits, as levels or with all entries free, or from nothing."""

    name = "cma-es"
    generations: int = 250

    def applies(self, arena: Arena) -> bool:
        """A short budget is not spent on importing it."""
        return arena.budget >= LOADING or "cmaes" in sys.modules

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Restart for ever: mostly from the pool, else at random."""
        turn = 0
        while True:
            start, step = self._start(arena, generator, turn)
            turn += 1
            yield from self._descend(arena, generator, start, step)

    def _start(self, arena: Arena, generator: np.random.Generator, turn: int) -> tuple[Grouped, float]:
        if arena.pool and turn % 5 != 4:
            x = arena.pool[int(generator.integers(min(8, len(arena.pool))))].x
            free = Grouped(x[None], np.zeros((1, arena.n)), np.arange(arena.n)[None])
            start = (recovered(x), distinct(x), recovered(x, 0.01), free)[turn % 5]
            wide = start.levels.shape[2] + (arena.n if np.any(start.scatters) else 0)
            if start.levels.size + np.count_nonzero(start.scatters) <= MOST_PARAMETERS and (
                arena.dimension is None or wide <= max(arena.dimension, x.shape[1])
            ):
                return start, float(generator.choice(STEPS))
        d = int(generator.choice([each for each in arena.dimensions() if each <= 3]))
        groups = int(generator.integers(3, 7))
        # all Byzantine workers together, or some of them apart
        apart = int(generator.integers(0, arena.f + 1)) if groups > 3 and generator.random() < 0.5 else 0
        honest = np.sort(generator.integers(0, groups - 1 - (apart > 0), size=arena.m))
        byzantine = np.repeat([groups - 1, groups - 2], [arena.f - apart, apart])
        places = np.concatenate([honest, byzantine]).astype(np.int64)
        scatters = np.abs(generator.normal(size=(1, groups))) * (generator.random((1, groups)) < 0.5)
        if turn % 2 or (arena.dimension is not None and arena.dimension < arena.n + d):
            scatters[:] = 0
        return Grouped(generator.normal(size=(1, groups, d)), scatters, places[None]), 1.0

    def _descend(self, arena: Arena, generator: np.random.Generator, start: Grouped, step: float) -> Iterator[None]:
        from cmaes import CMA

        if start.levels.size < 2:
            yield
            return
        scattered = np.flatnonzero(start.scatters[0])
        # the rule may mind the scale, so the unit is the input's own
        unit = float(np.std(start.levels)) or 1.0
        first = np.concatenate([start.levels.ravel(), start.scatters[0, scattered]]) / unit
        optimiser = CMA(mean=first, sigma=step, seed=int(generator.integers(2**31)))
        width = start.levels.size
        for turn in range(self.generations):
            asked = np.stack([optimiser.ask() for _ in range(optimiser.population_size)])
            levels = (asked[:, :width] * unit).reshape(len(asked), *start.levels.shape[1:])
            scatters = np.zeros((len(asked), start.scatters.shape[1]))
            scatters[:, scattered] = np.abs(asked[:, width:] * unit)
            places = np.repeat(start.places, len(asked), axis=0)
            ratios = arena.ratios(Grouped(levels, scatters, places).inputs())
            costs = np.where(np.isfinite(ratios), -ratios, WORST)
            optimiser.tell(list(zip(asked, costs.tolist(), strict=True)))
            if turn % SLICE == SLICE - 1:
                yield
            if optimiser.should_stop():
                break
        yield
