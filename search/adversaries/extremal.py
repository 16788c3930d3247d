"""Inputs that are worst for rules whose exact programs are known (``kappaguard.search.exact``), and known bad inputs.

For a built-in rule its own cone programs are solved first: the cells of the rule's choices, each of them convex. For
any other rule, also one that we have never seen, the worst inputs of the built-in ones are tried: rules resemble each
other. To these come the inputs of the paper's lower bounds, and those that are worst for nnm in front of a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kappaguard.rules.base import Rule
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.exact import gm, krum, mda, multikrum, ordered
from kappaguard.search.exact.dual import prove

PROGRAM = 50
"""What solving a cell costs, in evaluations."""


@dataclass(frozen=True)
class Extremal(Adversary):
    """The rule's own programs if it has any, then those of all the others; those in closed form first."""

    name = "cells"

    def applies(self, arena: Arena) -> bool:
        """All of these inputs are for 0 < f < n/2."""
        return 0 < arena.f < arena.n / 2

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """All of them once."""
        own = arena.rule.label if isinstance(arena.rule, Rule) else ""
        families = {"krum": _krum, "closed": _closed}
        order = ("krum", "closed") if own == "krum" else ("closed", "krum")
        for family in order:
            for x in families[family](arena):
                if arena.dimension is None or x.shape[1] <= arena.dimension:
                    for arrangement in arrangements(arena):
                        arena.ratios(x[None], arrangement)
                yield


def floats(x: list[list[Fraction]]) -> Floats:
    """Fractions as floats."""
    return np.array([[float(value) for value in row] for row in x])


def _closed(arena: Arena) -> Iterator[Floats]:
    """Worst inputs in closed form."""
    n, f = arena.n, arena.f
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


def _krum(arena: Arena) -> Iterator[Floats]:
    """The worst inputs of the best cells of Krum."""
    n, f = arena.n, arena.f
    found = []
    for key in krum.keys(n, f):
        arena.spend(PROGRAM)
        found.append((prove(krum.cell(n, f, key)).kappa, key))
    for _, key in sorted(found, key=lambda each: -each[0])[:4]:
        arena.spend(PROGRAM)
        x, honest = krum.worst_input(n, f, key)
        rows = floats(x)
        others = [row for row in range(n) if row not in set(honest)]
        yield rows[honest + others]
