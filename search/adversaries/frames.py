"""The same input in another frame: what a rule should not mind, tried on the best inputs found.

Another order of the workers (a rule may treat worker 0 specially), another scale (an absolute constant in the rule), an
offset (cancellation), other signs, other coordinates, more of them. A rule that is known not to mind is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats

SCALES = tuple(10.0**k for k in (-12, -9, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 9, 12))
OFFSETS = (1.0, -1.0, 10.0, 100.0, 1e3, -1e3, 1e4, 1e5)
FIRST = 6
MIRRORS = 16
WIDEST = 1024
"""So many coordinates are tried on its own accord."""


@dataclass(frozen=True)
class Frames(Adversary):
    """Goes through the best inputs again and again; they change."""

    name = "frames"

    def applies(self, arena: Arena) -> bool:
        """Whether there is anything that the rule may mind."""
        traits = arena.traits
        return not (traits.symmetric and traits.scales and traits.translates and traits.rotates)

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """One frame of mind after the other."""
        while True:
            chosen = arena.pool[:FIRST] or []
            if not chosen:
                arena.ratios(generator.normal(size=(8, arena.n, 2)))
                yield
            for candidate in chosen:
                x = candidate.x
                if not arena.traits.symmetric:
                    orders = [generator.permutation(arena.n).tolist() for _ in range(6)]
                    for order in [*arrangements(arena), *orders]:
                        arena.ratios(x[None], order)
                    yield
                for family in (_scaled, _moved, _turned, _widened):
                    inputs = family(arena, generator, x)
                    if len(inputs):
                        arena.ratios(inputs, candidate.arrangement)
                        yield


def _scaled(arena: Arena, generator: np.random.Generator, x: Floats) -> Floats:
    if arena.traits.scales:
        return x[None][:0]
    return np.stack([scale * x for scale in (*SCALES, float(np.exp(generator.normal() * 6)))])


def _moved(arena: Arena, _: np.random.Generator, x: Floats) -> Floats:
    if arena.traits.translates:
        return x[None][:0]
    size = float(np.max(np.ptp(x, axis=0))) or 1.0
    centres = [x - x[row] for row in (0, arena.m - 1, arena.n - 1)] + [x - x[: arena.m].mean(axis=0)]
    return np.stack([x + offset * size for offset in OFFSETS] + centres)


def _turned(arena: Arena, generator: np.random.Generator, x: Floats) -> Floats:
    if arena.traits.rotates:
        return x[None][:0]
    turned = [_reflected(generator, x) for _ in range(4)] if x.shape[1] > 1 else []
    return np.stack([-x, x[:, ::-1], *turned])


def _reflected(generator: np.random.Generator, x: Floats) -> Floats:
    """x after a few random reflections, of which any turn is made; each costs no more than a look at x."""
    for _ in range(min(x.shape[1], MIRRORS)):
        mirror = generator.normal(size=(x.shape[1],))
        x = x - np.outer(x @ mirror, 2.0 / (mirror @ mirror) * mirror)
    return x


def _widened(arena: Arena, generator: np.random.Generator, x: Floats) -> Floats:
    """The input in more coordinates: repeated, with zeros, with noise of its own; all of one width."""
    if arena.traits.rotates:
        return x[None][:0]
    n, d = x.shape
    wide = min(int(generator.choice([2, 3, 8, 32, 100])) * d, WIDEST) if arena.dimension is None else arena.dimension
    if wide <= d:
        return x[None][:0]
    repeated = np.tile(x, (1, -(-wide // d)))[:, :wide]
    padded = np.zeros((n, wide))
    padded[:, :d] = x
    behind = padded[:, ::-1].copy()
    shuffled = repeated.copy()
    for column in range(d, wide):
        shuffled[: arena.m, column] = shuffled[generator.permutation(arena.m), column]
    noisy = padded + 1e-3 * float(np.std(x)) * generator.normal(size=padded.shape)
    return np.stack([repeated, padded, behind, shuffled, noisy])
