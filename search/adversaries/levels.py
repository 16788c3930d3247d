"""Evolution of inputs with few kinds of workers, see ``kappaguard.search.grouped``.

Children move some groups, by steps that shrink from generation to generation, send a worker to another group, change
the scatter of a group, or place a group exactly on, half-way to or opposite to another, where rules change their mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.grouped import Grouped

HONEST_GROUPS, BYZANTINE_GROUPS = 4, 2
GROUPS = HONEST_GROUPS + BYZANTINE_GROUPS
CHILDREN = 6
SMALLEST_STEP = 2.0**-13
SHARES = np.array([0.0, 0.5, 1.0, 2.0, -1.0])


@dataclass(frozen=True)
class Levels(Adversary):
    """Generations of inputs with few groups, restarted in every dimension, with scatter and without."""

    name = "levels"
    kept: int = 32
    first: int = 400
    generations: int = 60

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Restart for ever, through the dimensions in turn."""
        while True:
            for d in arena.dimensions():
                if d < GROUPS:
                    for scattered in (False, True):
                        if scattered and arena.dimension is not None and arena.dimension < arena.n + d:
                            continue
                        yield from self._evolve(arena, generator, self._born(arena, generator, d, scattered))

    def _evolve(self, arena: Arena, generator: np.random.Generator, living: Grouped) -> Iterator[None]:
        """Until the step is small; it shrinks by a constant factor from generation to generation."""
        ratios = arena.ratios(living.inputs())
        yield
        for turn in range(self.generations):
            order = np.argsort(-ratios, kind="stable")[: self.kept]
            living, ratios = living[order], ratios[order]
            if not np.isfinite(ratios[0]):
                return
            young = _children(generator, living, SMALLEST_STEP ** (turn / (self.generations - 1)))
            living, ratios = living + young, np.concatenate([ratios, arena.ratios(young.inputs())])
            yield

    def _born(self, arena: Arena, generator: np.random.Generator, d: int, scattered: bool) -> Grouped:
        count, m = self.first, arena.m
        places = np.empty((count, arena.n), dtype=np.int64)
        cuts = np.sort(generator.integers(0, m + 1, size=(count, HONEST_GROUPS - 1)), axis=1)
        # as many cuts at the end are as many groups fewer
        cuts[np.arange(HONEST_GROUPS - 1)[None, :] < generator.integers(0, HONEST_GROUPS, size=(count, 1))] = m
        places[:, :m] = np.sum(np.arange(m)[None, :, None] >= cuts[:, None, :], axis=2)
        split = generator.integers(0, arena.f + 1, size=(count, 1)) * generator.integers(0, 2, size=(count, 1))
        places[:, m:] = HONEST_GROUPS + (np.arange(arena.f)[None, :] < split)
        levels = generator.normal(size=(count, GROUPS, d)) * np.exp(generator.normal(size=(count, GROUPS, 1)))
        scatters = np.zeros((count, GROUPS))
        if scattered:
            scatters = np.abs(generator.normal(size=(count, GROUPS))) * (generator.random((count, GROUPS)) < 0.5)
        return Grouped(levels, scatters, places)


def _children(generator: np.random.Generator, parents: Grouped, step: float) -> Grouped:
    family = parents[np.repeat(np.arange(len(parents)), CHILDREN)]
    levels, scatters, places = family.levels.copy(), family.scatters.copy(), family.places.copy()
    count, groups, _ = levels.shape
    rows = np.arange(count)
    size = np.std(levels, axis=(1, 2), keepdims=True) + 1e-12
    scale = step * size * np.exp(generator.normal(size=(count, 1, 1)))
    moved = generator.random(size=(count, groups, 1)) < 0.5
    moved[:, 0] |= ~np.any(moved, axis=1)
    levels += scale * moved * generator.normal(size=levels.shape)
    # the scatter of the groups that have one
    scatters *= np.exp(step * generator.normal(size=scatters.shape) * (generator.random(scatters.shape) < 0.5))
    if np.any(scatters):
        flip = rows[generator.random(count) < 0.1]
        group = generator.integers(0, groups, size=len(flip))
        scatters[flip, group] = np.where(scatters[flip, group] > 0, 0, size[flip, 0, 0] * generator.random(len(flip)))
    # one worker joins another group
    switch = rows[generator.random(count) < 0.2]
    workers = generator.integers(0, places.shape[1], size=len(switch))
    places[switch, workers] = generator.integers(0, groups, size=len(switch))
    _aim(generator, levels, rows[generator.random(count) < 0.15])
    # a difference between two groups is stretched or shrunk
    stretch = rows[generator.random(count) < 0.15]
    first, second = generator.integers(0, groups, size=(2, len(stretch)))
    factor = np.exp(step * generator.normal(size=(len(stretch), 1)))
    levels[stretch, first] = levels[stretch, second] + factor * (levels[stretch, first] - levels[stretch, second])
    return Grouped(levels, scatters, places)


def _aim(generator: np.random.Generator, levels: Floats, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    """Put one group a fixed fraction of the way from a second to a third: on it, half-way, or opposite to it."""
    first, second, third = generator.integers(0, levels.shape[1], size=(3, len(rows)))
    share = generator.choice(SHARES, size=(len(rows), 1))
    levels[rows, first] = levels[rows, second] + share * (levels[rows, third] - levels[rows, second])
