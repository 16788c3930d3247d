"""Inputs that are worst for rules that we know, tried on any rule: rules resemble each other.

Those in closed form (the paper's lower bounds, the worst inputs of coordinate-wise rules and of gm, those that are
worst for nnm in front of a rule), then those that the programs of recipes lead to: Krum with several numbers of
neighbours, multikrum, mda and mva.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.exact.known import known_inputs
from kappaguard.search.exact.variants import variants, worst_inputs

PROGRAM = 50
"""What the programs of a recipe cost, in evaluations."""


@dataclass(frozen=True)
class Extremal(Adversary):
    """Those in closed form first, then one recipe a slice."""

    name = "extremal"

    def applies(self, arena: Arena) -> bool:
        """All of these inputs are for 0 < f < n/2."""
        return 0 < arena.f < arena.n / 2

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Evaluate every known worst input once."""
        n, f = arena.n, arena.f
        for x, honest, _ in known_inputs(n, f):
            others = [row for row in range(n) if row not in set(honest)]
            _try(arena, np.array([[float(value) for value in row] for row in x])[honest + others])
        yield
        for _, recipe in variants(n, f):
            arena.spend(PROGRAM)
            for found in worst_inputs(recipe, f):
                _try(arena, found)
            yield


def _try(arena: Arena, x: Floats) -> None:
    if arena.dimension is None or x.shape[1] <= arena.dimension:
        for arrangement in arrangements(arena):
            arena.ratios(x[None], arrangement)
