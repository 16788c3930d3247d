"""A small adversary: structured and random inputs, then local search, on batches of inputs.

Inputs are a few distinct vectors, each used by several workers, because worst inputs look like that. The honest
workers are the first n - f. What it finds is a float; a claim re-evaluates it exactly before it says anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]
"""From inputs (b, n, d) to the numbers (b,) to be maximised."""

KEPT = 48
CHILDREN = 6
GRAIN = 2**24
LEAST_SPREAD = 1e-3
"""Of the honest vectors, relative to the largest entry of the input."""


@dataclass(frozen=True)
class Probed:
    """The best input, its score, and what it cost."""

    value: float
    x: Floats
    evaluations: int

    def rational(self) -> list[list[Fraction]]:
        """The input scaled to size one and rounded to fractions."""
        size = float(np.max(np.abs(self.x))) or 1.0
        return [[Fraction(round(value / size * GRAIN), GRAIN) for value in row] for row in self.x.tolist()]


def probe(score: Score, n: int, f: int, rounds: int, seed: int = 0, dimensions: tuple[int, ...] = (1, 2)) -> Probed:
    """Maximise a score over inputs; the same seed gives the same result."""
    generator = np.random.default_rng(seed)
    best: tuple[float, Floats] = (-np.inf, np.zeros((n, 1)))
    evaluations = 0
    for d in dimensions:
        places, levels = _first(generator, n, f, d)
        values = _judged(score, levels, places, n - f)
        evaluations += len(values)
        for turn in range(rounds):
            order = np.argsort(-values, kind="stable")[:KEPT]
            places, levels, values = places[order], levels[order], values[order]
            new_places, new_levels = _children(generator, places, levels, 0.5 * 0.5 ** (turn / max(1, rounds / 12)))
            new_values = _judged(score, new_levels, new_places, n - f)
            evaluations += len(new_values)
            places, levels = np.concatenate([places, new_places]), np.concatenate([levels, new_levels])
            values = np.concatenate([values, new_values])
        top = int(np.argmax(values))
        if values[top] > best[0]:
            best = (float(values[top]), _inputs(levels[top : top + 1], places[top : top + 1])[0])
    return Probed(*best, evaluations)


def ratio_score(rule: Any, n: int, f: int) -> Score:
    """The ratio of a rule on the first n - f vectors."""
    from kappaguard.rules.ratio import ratio

    honest = list(range(n - f))

    def score(x: Floats) -> Floats:
        values: Floats = np.asarray(ratio(rule(x), x, honest), dtype=np.float64)
        return values

    return score


def _first(generator: np.random.Generator, n: int, f: int, d: int) -> tuple[NDArray[np.int64], Floats]:
    """Honest workers in up to four groups of all sizes, Byzantine ones in one or two."""
    m, count, groups = n - f, 1200, 6
    places = np.empty((count, n), dtype=np.int64)
    cuts = np.sort(generator.integers(0, m + 1, size=(count, 3)), axis=1)
    places[:, :m] = np.sum(np.arange(m)[None, :, None] >= cuts[:, None, :], axis=2)
    split = generator.integers(0, f + 1, size=(count, 1)) * generator.integers(0, 2, size=(count, 1))
    places[:, m:] = 4 + (np.arange(f)[None, :] < split)
    levels = generator.normal(size=(count, groups, d)) * np.exp(generator.normal(size=(count, groups, 1)))
    return places, levels


def _children(
    generator: np.random.Generator, places: NDArray[np.int64], levels: Floats, step: float
) -> tuple[NDArray[np.int64], Floats]:
    new_places, new_levels = np.repeat(places, CHILDREN, axis=0), np.repeat(levels, CHILDREN, axis=0)
    size = np.std(new_levels, axis=(1, 2), keepdims=True) + 1e-12
    scale = step * size * np.exp(generator.normal(size=(len(new_levels), 1, 1)) * 2)
    moved = generator.random(size=(*new_levels.shape[:2], 1)) < 0.5
    new_levels = new_levels + scale * moved * generator.normal(size=new_levels.shape)
    # now and then one worker joins another group
    switch = np.flatnonzero(generator.random(len(new_places)) < 0.25)
    workers = generator.integers(0, places.shape[1], size=len(switch))
    new_places[switch, workers] = generator.integers(0, levels.shape[1], size=len(switch))
    return new_places, new_levels


def _inputs(levels: Floats, places: NDArray[np.int64]) -> Floats:
    taken: Floats = np.take_along_axis(levels, places[:, :, None], axis=1)
    return taken


def _judged(score: Score, levels: Floats, places: NDArray[np.int64], m: int) -> Floats:
    x = _inputs(levels, places)
    values = score(x)
    spread = np.max(np.ptp(x[:, :m], axis=1), axis=-1)
    # a fault, or a spread that is lost in rounding: not an input to build on
    sound = np.isfinite(values) & (spread > LEAST_SPREAD * np.max(np.abs(x), axis=(1, 2)))
    return np.where(sound, values, -np.inf)
