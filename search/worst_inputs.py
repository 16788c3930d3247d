"""Inputs that are worst for rules we know, to be tried on rules we do not know.

A copy of a known rule, under whatever name, must get that rule's kappa* whatever the machine is busy with, so these
inputs come before any search. A source is a function of (n, f) that yields inputs; whoever derives the worst inputs of
another rule adds one to ``SOURCES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from kappaguard.search.exact.known import known_inputs
from kappaguard.search.exact.variants import variants
from kappaguard.search.exact.variants import worst_inputs as inputs_of

BITS = 44


@dataclass(frozen=True)
class WorstInput:
    """n vectors, the indices of the honest ones, and the name of the rule that they are worst for."""

    x: tuple[tuple[Fraction, ...], ...]
    honest: tuple[int, ...]
    rule: str


Source = Callable[[int, int], Iterator[WorstInput]]


def worst_inputs(n: int, f: int) -> Iterator[WorstInput]:
    """All inputs of all sources at (n, f), those in closed form first; none without Byzantine vectors."""
    if 0 < 2 * f < n:
        for source in SOURCES:
            yield from source(n, f)


def closed_forms(n: int, f: int) -> Iterator[WorstInput]:
    """The inputs of closed forms of kappa*, of the paper's lower bound, and of rules that break down."""
    for x, honest, rule in known_inputs(n, f):
        yield WorstInput(tuple(map(tuple, x)), tuple(honest), rule.removeprefix("extremal for "))


def programs(n: int, f: int) -> Iterator[WorstInput]:
    """Those that the programs of recipes lead to: Krum with several numbers of neighbours, multikrum, mda, mva."""
    for name, recipe in variants(n, f):
        for found in inputs_of(recipe, f):
            scaled = (found / abs(found).max()).tolist()
            x = tuple(tuple(Fraction(round(value * 2**BITS), 2**BITS) for value in row) for row in scaled)
            yield WorstInput(x, tuple(range(n - f)), name)


SOURCES: list[Source] = [closed_forms, programs]
