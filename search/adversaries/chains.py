"""Chains on a line, against rules that look at neighbours, nearest neighbour mixing above all.

n - 2f honest vectors at 0, f - k at 1 and k at 1 - a; f - k Byzantine ones just short of -1, so that 0 has them and not
1 for neighbours, and k at -b. With b just short of 3 - a those at -1 have these, and not 1 - a, for neighbours: each
link of the chain pulls the next one away from the honest vectors. k = 0 is the worst input of nnm in front of the
trimmed mean. The largest ratio over k, a and b is found by a grid and finer ones around its peaks; the grids avoid
simple fractions, where a rule may be indifferent between two choices in floats and not so in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats

SHORT = 1e-7
GRID = 36
WIDEST = 0.5
PEAKS = 3
MIDDLE = 2.5
MOST_LINKS = 24
ASIDE = 0.381966


@dataclass(frozen=True)
class Chains(Adversary):
    """All numbers of links once, then finer grids of the best."""

    name = "chains"

    def applies(self, arena: Arena) -> bool:
        """It needs adversaries, and a majority without them."""
        return 0 < arena.f < arena.n / 2

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """A slice per number of links."""
        found: list[tuple[float, int, float, bool]] = []
        step = WIDEST / GRID
        places: Floats = np.arange(float(GRID)) + ASIDE
        for links in sorted({round(part) for part in np.linspace(0, arena.f, min(arena.f, MOST_LINKS) + 1)}):
            for middle in (False, True):
                found += _tried(arena, links, step * places, middle)
                yield
        while step > SHORT:
            best = sorted(found, reverse=True)[:PEAKS]
            for _, links, gap, middle in best:
                found += _tried(arena, links, np.abs(gap + step * (np.arange(-8.0, 8.0) + ASIDE) / 8), middle)
                yield
            step /= 8


def _tried(arena: Arena, links: int, gaps: Floats, middle: bool) -> list[tuple[float, int, float, bool]]:
    inputs = np.stack([chain(arena.n, arena.f, links, gap, MIDDLE if middle else 3 - gap) for gap in gaps])
    # also a rule that treats all workers alike breaks ties by their order
    orders = {*arrangements(arena), tuple(reversed(range(arena.n)))}
    values = np.max([arena.ratios(inputs, order) for order in sorted(orders)], axis=0)
    return [(float(value), links, float(gap), middle) for value, gap in zip(values, gaps, strict=True)]


def chain(n: int, f: int, links: int, gap: float, far: float) -> Floats:
    """The chain with so many links, as a matrix (n, 1), the honest vectors first."""
    honest = [0.0] * (n - 2 * f) + [1.0] * (f - links) + [1.0 - gap] * links
    byzantine = [SHORT - 1.0] * (f - links) + [3 * SHORT - far] * links
    return np.array([honest + byzantine]).T
