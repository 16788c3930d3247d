"""The paper's attacks on random and on good honest vectors, their eta optimised (``kappaguard.search.attacks``).

Attacks fix what the Byzantine workers do and leave the honest vectors to chance, so they are weak adversaries here; but
they are what people know, and now and then they open a door for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kappaguard.rules.base.errors import InputError
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.attacks.names import attack_named

NAMES = ("sf", "alie", "foe", "mimic")


@dataclass(frozen=True)
class Attacks(Adversary):
    """Every attack on one set of honest vectors per slice."""

    name = "attacks"

    def applies(self, arena: Arena) -> bool:
        """There must be somebody to attack with."""
        return arena.f > 0

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """For ever, honest vectors of all kinds."""
        turn = 0
        attacks = [attack_named(name) for name in NAMES]
        while True:
            honest = _honest(arena, generator, turn)
            turn += 1
            for attack in attacks:
                try:
                    vectors = np.asarray(attack(honest, arena.f, partial(_output, arena)), dtype=np.float64)
                except InputError:
                    continue
                arena.ratios(np.concatenate([honest, vectors])[None])
            yield


def _output(arena: Arena, x: Any) -> Floats:
    """What the rule makes of one input, counted."""
    output: Floats = arena.outputs(np.asarray(x, dtype=np.float64)[None])[0]
    return output


def _honest(arena: Arena, generator: np.random.Generator, turn: int) -> Floats:
    """Normal, heavy-tailed, two clusters, or those of a good input, in turn."""
    dimensions = arena.dimensions()
    d = dimensions[turn // 4 % len(dimensions)]
    kind = turn % 4
    if kind == 3 and arena.pool:
        return arena.pool[int(generator.integers(min(8, len(arena.pool))))].x[: arena.m]
    if kind == 1:
        return generator.standard_t(2, size=(arena.m, d))
    x = generator.normal(size=(arena.m, d))
    if kind == 2:
        x = 0.1 * x
        x[: int(generator.integers(1, max(2, arena.m)))] += generator.normal(size=d)
    return x
