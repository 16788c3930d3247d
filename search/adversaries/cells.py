"""Cell ascent without knowing the cells: the local linear map from differences.

Rules are piecewise linear (or nearly so): near an input x the error is A x, linear in all entries. With u the direction
of the error, phi(x) = <u, A x> = <a, x> is what the adversary wants to be large for a given variance of the honest
vectors, and on the cell the answer is known: by Cauchy and Schwarz the honest vectors should be proportional to their
part of a, centred, and the Byzantine ones should go as far along theirs as the cell permits. So the coefficients a are
estimated by one difference per entry, and from x steps of many lengths are taken towards that answer, up to, along and
over the boundary of the cell; the best of them is where the next cell begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.arena import Arena, Candidate, Floats
from kappaguard.search.grouped import distinct

MOST_ENTRIES = 160
DIFFERENCE = 1e-6
LENGTHS = np.concatenate([np.geomspace(1e-6, 1, 13), [1.5, 2.0, 4.0]])


@dataclass(frozen=True)
class CellAscent(Adversary):
    """From each of the best inputs in turn, cell by cell."""

    name = "cell ascent"
    cells: int = 24

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """For ever: the pool changes."""
        turn = 0
        while True:
            pool = [each for each in arena.pool[:8] if each.x.size <= MOST_ENTRIES]
            if not pool:
                arena.ratios(generator.normal(size=(8, arena.n, 1 + turn % 2)))
                yield
            else:
                yield from self._ascend(arena, generator, pool[turn % len(pool)])
            turn += 1

    def _ascend(self, arena: Arena, generator: np.random.Generator, start: Candidate) -> Iterator[None]:
        x, ratio, order = start.x, start.ratio, start.arrangement
        failures = 0
        for _ in range(self.cells):
            trials = _steps(arena, generator, x, order)
            if trials is None:
                break
            ratios = arena.ratios(trials, order)
            best = int(np.argmax(ratios))
            improved = bool(ratios[best] > ratio * (1 + 1e-10))
            failures = 0 if improved else failures + 1
            if improved:
                x, ratio = trials[best], float(ratios[best])
            yield
            if failures == 3:
                break
        yield


def _steps(arena: Arena, generator: np.random.Generator, x: Floats, order: tuple[int, ...]) -> Floats | None:
    """Inputs on the way from x to the best one of its cell, if the cell went on for ever."""
    wanted = _coefficients(arena, x, order)
    if wanted is None:
        return None
    m = arena.m
    honest = x[:m] - x[:m].mean(axis=0)
    ideal = wanted[:m] - wanted[:m].mean(axis=0)
    along = float(np.sum(ideal * honest))
    forward = np.zeros_like(x)
    if along > 0:
        forward[:m] = ideal * (np.sum(honest * honest) / along) - honest
    outward = np.zeros_like(x)
    size = float(np.sqrt(np.mean(honest * honest))) or 1.0
    reach = float(np.sqrt(np.mean(wanted[m:] ** 2))) if arena.f else 0.0
    if reach > 0:
        outward[m:] = wanted[m:] * size / reach
    groups = distinct(x).places[0]
    mask = generator.random((int(groups.max()) + 1, x.shape[1]))[groups] < 0.5
    directions = [forward, outward, -outward, forward + outward, forward - outward, (forward + outward) * mask]
    return np.concatenate([x + LENGTHS[:, None, None] * each for each in directions if np.any(each)] or [x[None]])


def _coefficients(arena: Arena, x: Floats, order: tuple[int, ...]) -> Floats | None:
    """a: the derivative of the error along its own direction, by one difference per entry."""
    n, d = x.shape
    step = DIFFERENCE * (float(np.max(np.ptp(x, axis=0))) or 1.0)
    moved = x + step * np.eye(n * d).reshape(n * d, n, d)
    outputs = arena.outputs(np.concatenate([x[None], moved]), order)
    if not np.all(np.isfinite(outputs)):
        return None
    error = outputs[0] - x[: arena.m].mean(axis=0)
    length = float(np.linalg.norm(error))
    if length == 0:
        return None
    unit = error / length
    slopes: Floats = ((outputs[1:] - outputs[0]) @ unit / step).reshape(n, d)
    slopes[: arena.m] -= unit / arena.m
    return slopes
