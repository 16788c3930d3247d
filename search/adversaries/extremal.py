"""Inputs that are worst for rules whose exact programs are known (``kappaguard.search.exact``), and known bad inputs.

For a built-in rule its own programs are among them: the cells of the rule's choices, each of them convex. For any other
rule, also one that we have never seen, the worst inputs of the built-in ones are tried: rules resemble each other. To
these come the inputs of the paper's lower bounds, and those that are worst for nnm in front of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.exact import gm, krum, mda, multikrum, multikrum_inputs, ordered
from kappaguard.search.exact.dual import prove

WorstInput = Callable[..., tuple[list[list[Fraction]], list[int]]]
"""From n, f and the key of a cell to its worst input and the honest indices."""
PROGRAM = 50
"""What solving a cell costs, in evaluations."""
BEST = 4
"""The cells of a rule whose worst inputs are tried."""


@dataclass(frozen=True)
class Extremal(Adversary):
    """Those in closed form first, then the semidefinite programs of Krum's and MultiKrum's cells, one a slice."""

    name = "extremal"

    def applies(self, arena: Arena) -> bool:
        """All of these inputs are for 0 < f < n/2."""
        return 0 < arena.f < arena.n / 2

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """All of them once."""
        for x in _closed(arena.n, arena.f):
            _try(arena, x)
        yield
        n, f = arena.n, arena.f
        yield from _cells(arena, krum, krum.keys(n, f), krum.worst_input)
        if n < 3 * f:
            keys = [*(key for key in multikrum.keys(n, f) if key != (f, 0)), *multikrum.divided(n, f)]
            yield from _cells(arena, multikrum, keys, multikrum_inputs.worst_input)


def _cells(arena: Arena, rule: Any, keys: Iterable[Any], worst_input: WorstInput) -> Iterator[None]:
    """The worst inputs of the best cells of a rule."""
    found: list[tuple[Fraction, Any]] = []
    for key in keys:
        arena.spend(PROGRAM)
        found.append((prove(rule.cell(arena.n, arena.f, key)).kappa, key))
        yield
    for _, key in sorted(found, key=lambda each: -each[0])[:BEST]:
        arena.spend(PROGRAM)
        rows, honest = worst_input(arena.n, arena.f, key)
        others = [row for row in range(arena.n) if row not in set(honest)]
        _try(arena, floats(rows)[honest + others])
        yield


def _try(arena: Arena, x: Floats) -> None:
    if arena.dimension is None or x.shape[1] <= arena.dimension:
        for arrangement in arrangements(arena):
            arena.ratios(x[None], arrangement)


def floats(x: list[list[Fraction]]) -> Floats:
    """Fractions as floats."""
    return np.array([[float(value) for value in row] for row in x])


def _closed(n: int, f: int) -> Iterator[Floats]:
    """Worst inputs in closed form."""
    zeros, ones = [[Fraction(0)]] * (n - f), [[Fraction(1)]] * f
    # the universal lower bound: S leaves out f of the zeros
    yield floats((zeros + ones)[f:] + zeros[:f])
    for rule in ("cwtm", "cwmed", "meamed"):
        yield floats(ordered.worst_input(rule, n, f))
    yield floats(gm.worst_input(n, f))
    yield floats(mda.worst_input(n, f))
    yield floats(multikrum.worst_input(n, f))
    near = [[Fraction(0)]] * (n - 2 * f) + [[Fraction(1)]] * f + [[Fraction(-1) + mda.TRIFLE]] * f
    yield floats(near)
