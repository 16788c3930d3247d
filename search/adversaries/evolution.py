"""Differential evolution (scipy) on the levels of inputs with few distinct vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats, Integers
from kappaguard.search.grouped import Grouped

WORST = 1e300


@dataclass(frozen=True)
class DifferentialEvolution(Adversary):
    """A short run per slice, each with new groups."""

    name = "differential evolution"
    generations: int = 25
    population: int = 6

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Evolve from new populations, for ever."""
        from scipy.optimize import Bounds, differential_evolution

        dimensions = [d for d in arena.dimensions() if d <= 3]
        turn = 0
        while True:
            d, groups = dimensions[turn % len(dimensions)], int(generator.integers(3, 6))
            turn += 1
            honest = np.sort(generator.integers(0, groups - 1, size=arena.m))
            places = np.concatenate([honest, np.full(arena.f, groups - 1)]).astype(np.int64)

            def cost(vectors: Floats, groups: int = groups, d: int = d, places: Integers = places) -> Floats:
                levels = vectors.T.reshape(-1, groups, d)
                several = np.repeat(places[None], len(levels), axis=0)
                ratios = arena.ratios(Grouped(levels, np.zeros((len(levels), groups)), several).inputs())
                return np.where(np.isfinite(ratios), -ratios, WORST)

            differential_evolution(
                cost,  # type: ignore[arg-type]  # vectorised: one column per candidate
                Bounds([-3.0] * (groups * d), [3.0] * (groups * d)),
                maxiter=self.generations,
                popsize=self.population,
                tol=0,
                polish=False,
                vectorized=True,
                updating="deferred",
                rng=np.random.default_rng(int(generator.integers(2**31))),
            )
            yield
