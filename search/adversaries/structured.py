"""Inputs that people would try by hand: few levels, simplices, copies, lines; finitely many, simplest first.

No spread among the honest vectors (any error at all makes kappa* infinite); two and three levels of all sizes with the
Byzantine vectors on, between, beyond and opposite to them; one-hot vectors; copies of honest vectors; arithmetic and
geometric sequences; different splits in different coordinates. Small whole numbers throughout, so that equalities and
ties are exact, and, for rules that mind the order, several arrangements of the workers. And inputs with little
spread far from the origin, where a rule that computes distances carelessly sees nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Floats

PLACES = (1.0, -1.0, 0.0, 2.0, 0.5, -2.0, 1.5, -0.5, 3.0, 0.999, -0.999, 1.001, 10.0, -10.0, 1e3, 1e8, 1e17)
OFFSETS = (2.0**12, 2.0**16, 2.0**20)
SLICE = 256
MOST_SPLITS = 24
WIDEST = 32


@dataclass(frozen=True)
class Structured(Adversary):
    """The families in turn, under every arrangement that may matter."""

    name = "structured"

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Evaluate every structured input once."""
        for family in FAMILIES:
            inputs = family(arena, generator)
            while batch := list(islice(inputs, SLICE)):
                for width in sorted({each.shape[1] for each in batch}):
                    same = np.stack([each for each in batch if each.shape[1] == width])
                    for arrangement in arrangements(arena):
                        arena.ratios(same, arrangement)
                yield


def arrangements(arena: Arena) -> list[tuple[int, ...]]:
    """Honest workers first, last, and in turn with the others."""
    roles = list(range(arena.n))
    if arena.traits.symmetric:
        return [tuple(roles)]
    mixed = sorted(roles, key=lambda role: (role % arena.m, role < arena.m))
    return [tuple(roles), tuple(roles[::-1]), tuple(mixed)]


def _splits(total: int) -> list[int]:
    """Sizes of a part, all of them if there are few."""
    if total <= MOST_SPLITS:
        return list(range(1, total))
    return sorted({max(1, round(total * k / MOST_SPLITS)) for k in range(1, MOST_SPLITS)})


def _without_spread(arena: Arena, _: np.random.Generator) -> Iterator[Floats]:
    n, m, f = arena.n, arena.m, arena.f
    widest = min(arena.dimensions()[-1], WIDEST)
    for centre in (0.0, 1.0):
        for far in (1.0, -1.0, 1e-3, 1e3, 1e6, 1e17):
            x = np.full((n, 1), centre)
            x[m:] += far
            yield x
            if f > 1:
                spread = x.copy()
                spread[m:, 0] = centre + far * np.arange(1, f + 1)
                yield spread
                halves = x.copy()
                halves[m + f // 2 :, 0] = centre - far
                yield halves
                one = np.full((n, 1), centre)
                one[-1] += far
                yield one
            for d in {min(2, widest), min(f + 1, widest), widest}:
                wide = np.full((n, d), centre)
                for row in range(f):
                    wide[m + row, row % d] += far
                yield wide


def _two_levels(arena: Arena, _: np.random.Generator) -> Iterator[Floats]:
    n, m = arena.n, arena.m
    for place in PLACES:
        for size in _splits(m):
            x = np.zeros((n, 1))
            x[:size] = 1.0
            x[m:] = place
            yield x


def _three_levels(arena: Arena, _: np.random.Generator) -> Iterator[Floats]:
    n, m, f = arena.n, arena.m, arena.f
    splits = _splits(m) if m <= 12 else _splits(m)[:: max(1, m // 8)]
    for place in (*PLACES[:8], 3.0, 5.0):
        for low in splits:
            for high in splits:
                if low + high < m:
                    x = np.zeros((n, 1))
                    x[:low], x[low : low + high] = -1.0, 1.0
                    x[m:] = place
                    yield x
                    if f > 1:
                        both = x.copy()
                        both[m + f // 2 :] = -place
                        yield both


def _corners(arena: Arena, _: np.random.Generator) -> Iterator[Floats]:
    """Honest vectors at the corners of a simplex, alone or several at each, Byzantine ones on its axis of symmetry."""
    n, m = arena.n, arena.m
    limit = arena.dimension or n
    for corners in {m, max(2, m // 2), 3, 2}:
        if corners > min(m, limit):
            continue
        x = np.zeros((n, corners))
        x[np.arange(m), np.arange(m) % corners] = 1.0
        for share in (0.0, 1.0, -1.0, 2.0, -2.0, 5.0):
            x[m:] = share / corners
            yield x.copy()
        x[m:] = 0
        x[m:, 0] = 1.0
        yield x.copy()
        x[m:, 0] = -1.0
        yield x.copy()


def _sequences(arena: Arena, _: np.random.Generator) -> Iterator[Floats]:
    m, f = arena.m, arena.f
    for honest in (np.arange(m, dtype=float), 2.0 ** np.arange(min(m, 40)), np.arange(m, dtype=float) ** 2):
        line = np.resize(honest, m)
        for place in (line[-1], line[0], line[-1] + 1, line[0] - 1, 2 * line[-1], float(np.median(line)), 0.5):
            x = np.concatenate([line, np.full(f, place)])[:, None]
            yield x
            yield -x
        for first in (line[-1] + 1, -float(f)):
            yield np.concatenate([line, first + np.arange(f)])[:, None]


def _copies(arena: Arena, generator: np.random.Generator) -> Iterator[Floats]:
    """Byzantine vectors that copy an honest one, or sit between two, at whole numbers."""
    n, m, f = arena.n, arena.m, arena.f
    for d in arena.dimensions()[:3]:
        for _ in range(24):
            x = np.zeros((n, d))
            x[:m] = generator.integers(-3, 4, size=(m, d))
            far = int(np.argmax(np.sum((x[:m] - x[:m].mean(axis=0)) ** 2, axis=1)))
            for target in (x[far], (x[far] + x[(far + 1) % m]) / 2, -x[far], 2 * x[far]):
                each = x.copy()
                each[m:] = target
                yield each
            each = x.copy()
            each[m:] = x[generator.integers(0, m, size=f)]
            yield each


def _mixed(arena: Arena, generator: np.random.Generator) -> Iterator[Floats]:
    """Several coordinates, each with its own split of the workers into levels."""
    n, m = arena.n, arena.m
    for d in arena.dimensions()[1:]:
        for _ in range(32):
            x = np.zeros((n, d))
            for column in range(d):
                order = generator.permutation(m) if generator.random() < 0.7 else np.arange(m)
                size = int(generator.integers(1, m))
                x[order[:size], column] = 1.0
                x[m:, column] = generator.choice(PLACES)
            yield x


def _displaced(arena: Arena, generator: np.random.Generator) -> Iterator[Floats]:
    """Small whole numbers and Byzantine vectors at some distance, all of them far from the origin."""
    n, m = arena.n, arena.m
    if arena.traits.translates:
        return
    for d in arena.dimensions()[:2]:
        for offset in OFFSETS:
            for distance in (8.0, 64.0, 512.0):
                for _ in range(2):
                    x = np.zeros((n, d))
                    x[:m] = generator.integers(-1, 2, size=(m, d))
                    x[m:, 0] = distance
                    yield x + offset


FAMILIES = (
    _without_spread,
    _two_levels,
    _displaced,
    _corners,
    _three_levels,
    _sequences,
    _copies,
    _mixed,
)
