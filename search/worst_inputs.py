"""Inputs that are worst for rules we know, to be tried on rules we do not know.

A copy of a known rule, under whatever name, must get that rule's kappa* whatever the machine is busy with, so these
inputs come before any search. A source is a function of (n, f) that yields inputs; whoever derives the worst inputs of
another rule adds one to ``SOURCES``.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from kappaguard.search.exact import gm, krum, mda, multikrum, multikrum_inputs, ordered
from kappaguard.search.exact.conic import NoAnswer
from kappaguard.search.exact.dual import bound

BEST = 2
"""The cells of a rule whose worst inputs are tried."""
MOST_VECTORS = 40
"""Beyond so many, inputs that take programs to find are left to the search."""
NEIGHBOURS = (1, 2, 0, 3)
"""n - f minus the number of neighbours in the scores of Krum: the paper's, Blanchard's, and those next to them."""
FAR = Fraction(10**6)


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


def _input(x: list[list[Fraction]], honest: list[int], rule: str) -> WorstInput:
    return WorstInput(tuple(map(tuple, x)), tuple(honest), rule)


def closed_forms(n: int, f: int) -> Iterator[WorstInput]:
    """The inputs of closed forms of kappa*, of the paper's lower bound, and of rules that break down."""
    zeros, ones, first = [[Fraction(0)]] * (n - f), [[Fraction(1)]] * f, list(range(n - f))
    yield _input(zeros + ones, list(range(f, n)), "cwtm, and every rule")
    yield _input(zeros + ones, first, "rules that move without spread")
    for rule in ("cwmed", "meamed"):
        yield _input(ordered.worst_input(rule, n, f), first, rule)
    yield _input(gm.worst_input(n, f), first, "gm")
    yield _input(mda.worst_input(n, f), first, "mda")
    yield _input(multikrum.worst_input(n, f), first, "multikrum")
    near = [[Fraction(0)]] * (n - 2 * f) + [[Fraction(1)]] * f + [[Fraction(-1) + mda.TRIFLE]] * f
    yield _input(near, first, "nnm")
    apart = [[Fraction(index % 2)] for index in range(n - f)] + [[FAR]] * f
    yield _input(apart, first, "krum with too few neighbours")


def krums(n: int, f: int) -> Iterator[WorstInput]:
    """Krum with several numbers of neighbours."""
    for fewer in NEIGHBOURS if n <= MOST_VECTORS else ():
        near = n - f - fewer
        if 1 <= near <= n - 2:
            name = "krum" if fewer == 1 else f"krum with {near} neighbours"
            cells = ((bound(krum.cell(n, f, key)), key) for key in krum.keys(n, f, near))
            ranked = sorted((each for each in cells if math.isfinite(each[0])), key=lambda each: -each[0])
            for _, key in ranked[:BEST]:
                with contextlib.suppress(NoAnswer):
                    yield _input(*krum.worst_input(n, f, key), name)


def multikrums(n: int, f: int) -> Iterator[WorstInput]:
    """MultiKrum where its closed form ends."""
    if n >= 3 * f or n > MOST_VECTORS:
        return
    keys = [*(key for key in multikrum.keys(n, f) if key != (f, 0)), *multikrum.divided(n, f)]
    cells = [(bound(multikrum.cell(n, f, key)), key) for key in keys]
    for _, key in sorted((each for each in cells if math.isfinite(each[0])), key=lambda each: -each[0])[:BEST]:
        with contextlib.suppress(NoAnswer):
            yield _input(*multikrum_inputs.worst_input(n, f, key), "multikrum")


SOURCES: list[Source] = [closed_forms, krums, multikrums]
