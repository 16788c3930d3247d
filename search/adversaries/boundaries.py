"""Cells of an unknown rule from its evaluations: the weights are read off the output, the walls are learned.

A rule that selects returns sum_i w_i x_i, with weights that stay the same on a whole cell of inputs. Where the inputs
are affinely independent, as with scatter they are, its output tells the weights. Over the cell the ratio is then a
quotient of two linear functions of the Gram matrix (``spaces.GramSpace``), or of a square and a quadratic form on a
line (``spaces.LineSpace``), and the largest one is a small convex program as soon as the walls of the cell are known.

They are learned one at a time, where they are needed. Let g be a point well inside, g* the optimum under the walls
known so far. The segment from g to g* leaves the cell somewhere, which bisection finds: a point belongs to the cell if
the rule does there at least as badly as the weights say. As many neighbouring segments as the space has dimensions
leave it near there; the plane through these points is the wall (they are not on one if two walls meet there: then the
segments are moved closer together). It is added and the program solved again, until g* itself belongs to the cell.

A union of cells need not be convex and a wall need not be flat, so this is done again from near the end, without the
old walls, as long as it helps. Then from points a little further, where the rule does something else: other cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.spaces import CellSpace, GramSpace, LineSpace, NoPoint
from kappaguard.search.arena import Arena, Candidate, Floats, Integers
from kappaguard.search.grouped import recovered

AGREES = 1e-7
"""A ratio this much below what the weights say, relatively, is still on the cell."""
INSIDE = (0.01, 0.03, 0.003, 0.1, 0.001)
"""How far a start is moved from its ties, in turn."""
SPREADS = (0.05, 0.01, 0.002, 3e-4)
"""How far apart the segments are that a wall is learned from, in turn."""
FLAT = 1e-3
HALVINGS = 28
WALLS = 40
CLOSE = 1e-5
PROGRAM = 10
"""What a program costs, in evaluations."""
BEAM = 3
DEPTH = 4
LOOKS = 24
NEAR = 0.8
"""Ends with less than this part of the best ratio are left alone."""
MOST_GROUPS = 6
LINE = 5
"""Every sixth turn is on a line."""


@dataclass(frozen=True)
class Boundaries(Adversary):
    """From good inputs and from nothing, in roles with scatter and on a line, in turn."""

    name = "boundaries"

    def applies(self, arena: Arena) -> bool:
        """Roles need adversaries and several honest vectors."""
        return arena.f > 0 and arena.m > 1

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """Follow walls between cells, for ever."""
        turn, last = 0, 0.0
        while True:
            wide = arena.dimension is None or arena.dimension >= arena.n - 1
            pool = arena.pool[:8]
            kind = turn % 6 if wide else LINE
            turn += 1
            if kind == LINE:
                yield from self._line(arena, generator, pool[turn // 6 % len(pool)] if pool else None)
                continue
            # once from the best with its own roles is enough
            if kind % 2 or not pool or (kind == 0 and pool[0].ratio == last):
                places = _random_roles(arena, generator)
                order = arena.arrangement
                space: CellSpace = GramSpace(places, arena.m)
                starts = _best_of(arena, generator, space, order)
            else:
                candidate = pool[0 if kind == 0 else int(generator.integers(len(pool)))]
                last, order = pool[0].ratio, candidate.arrangement
                x, places = _moved(generator, candidate.x, arena.m, kind)
                space = GramSpace(places, arena.m)
                starts = space.point(x)[None]
            yield
            yield from self._explore(arena, generator, space, starts, order)

    def _line(self, arena: Arena, generator: np.random.Generator, start: Candidate | None) -> Iterator[None]:
        if start is not None and generator.random() < 0.7:
            x, order = start.x, start.arrangement
            if x.shape[1] > 1:
                x = (x - x.mean(axis=0)) @ np.linalg.svd(x - x.mean(axis=0), full_matrices=False)[2][:1].T
            space = LineSpace(arena.m, arena.f, x)
            starts = space.point(x)[None]
        else:
            order = arena.arrangement
            space = LineSpace(arena.m, arena.f, generator.normal(size=(arena.n, 1)))
            starts = _best_of(arena, generator, space, order)
        yield
        yield from self._explore(arena, generator, space, starts, order)

    def _explore(
        self,
        arena: Arena,
        generator: np.random.Generator,
        space: CellSpace,
        starts: Floats,
        order: tuple[int, ...],
    ) -> Iterator[None]:
        """Cells from the starts on, the most promising neighbours first."""
        ends: list[float] = []
        for _ in range(DEPTH):
            cells = []
            before = max(ends, default=0.0)
            for start in starts[:BEAM]:
                cell = SelectionCell(arena, generator, space, order)
                yield from cell.climb(start, ends)
                ends.append(cell.ratio)
                cells.append(cell)
            best = max(cells, key=lambda cell: cell.ratio, default=None)
            if best is None or best.ratio <= before * (1 + 1e-6):
                return
            if arena.best is None or best.ratio < NEAR * arena.best.ratio:
                return
            starts = best.neighbours()
            yield


class SelectionCell:
    """The ascent over one cell after the other that the same start leads to."""

    def __init__(self, arena: Arena, generator: np.random.Generator, space: CellSpace, order: tuple[int, ...]) -> None:
        self.arena, self.generator, self.space, self.order = arena, generator, space, order
        self.ratio = 0.0
        self.end: Floats | None = None
        self.last: Floats | None = None
        self.closed = False

    def climb(self, start: Floats, ends: list[float]) -> Iterator[None]:
        """Until nothing is gained, or it ends where others did."""
        inside = self._inside(start)
        while inside is not None:
            weights = self._weights(inside)
            if weights is None:
                return
            before, self.last = self.ratio, weights
            yield from self._ascend(inside, weights)
            best = self.arena.best.ratio if self.arena.best else 0.0
            if self.closed or self.end is None or not self.ratio > before * (1 + 1e-6) or self.ratio < NEAR * best:
                return
            if any(abs(self.ratio / other - 1) < 1e-4 for other in ends):
                return
            inside = self._inside(self.end)

    def _ratios(self, points: Floats) -> Floats:
        return self.arena.ratios(self.space.inputs(points), self.order)

    def _offer(self, points: Floats, ratios: Floats) -> None:
        place = int(np.argmax(ratios))
        if ratios[place] > self.ratio and np.isfinite(ratios[place]):
            self.ratio, self.end = float(ratios[place]), points[place]

    def _inside(self, start: Floats) -> Floats | None:
        """A point near the start and off its ties, where the rule does as badly as it can be made to."""
        others = self.space.draw(self.generator, 24)
        steps = np.resize(np.array(INSIDE), 24)[:, None]
        points = (1 - steps) * start + steps * others
        ratios = self._ratios(points)
        self._offer(points, ratios)
        # further inside is better for the same ratio
        place = int(np.argmax(ratios * (1 + 0.5 * steps[:, 0])))
        return points[place] if np.isfinite(ratios[place]) and ratios[place] > 0 else None

    def _weights(self, point: Floats) -> Floats | None:
        """What the output says of the weights; None if it is not made of the inputs in this way."""
        x = self.space.inputs(point[None])
        output = self.arena.outputs(x, self.order)[0]
        return None if not np.all(np.isfinite(output)) else self.space.weights(x[0], output, self)

    def _belong(self, points: Floats, weights: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        ratios = self._ratios(points)
        self._offer(points, ratios)
        expected = self.space.expected(points, weights)
        return np.asarray(ratios >= expected * (1 - AGREES))

    def _deeper(self, inside: Floats, weights: Floats) -> Floats:
        """The mean of points of the cell around, which is further from its walls where it is convex."""
        for size in (0.3, 0.1, 0.03):
            points = inside + size * np.resize([1.0, 0.5], 32)[:, None] * (self.space.draw(self.generator, 32) - inside)
            belong = self._belong(points, weights)
            if np.sum(belong) >= 4:
                middle = np.mean(np.concatenate([inside[None], points[belong]]), axis=0)
                if self._belong(middle[None], weights)[0]:
                    return np.asarray(middle)
        return inside

    def _ascend(self, inside: Floats, weights: Floats) -> Iterator[None]:
        """Programs and walls in turn."""
        if not self._belong(inside[None], weights)[0]:
            return
        inside = self._deeper(inside, weights)
        walls: list[Floats] = []
        steps = 1 - np.concatenate([[0.0], np.geomspace(1e-7, 0.9, 22)])
        for _ in range(WALLS):
            self.arena.spend(PROGRAM)
            try:
                optimum = self.space.optimum(weights, walls, inside)
            except NoPoint:
                return
            bound = float(self.space.expected(optimum[None], weights)[0])
            self.closed = not bound > self.ratio * (1 + 1e-7)
            if self.closed:
                return
            points = inside + steps[:, None] * (optimum - inside)
            belong = self._belong(points, weights)[::-1]
            yield
            out = np.flatnonzero(~belong)
            near = 1.0 if not len(out) else 0.0 if out[0] == 0 else float(steps[::-1][out[0] - 1])
            self.closed = near > 1 - CLOSE
            if self.closed:
                return
            found = False
            for spread in SPREADS:
                wall = self._wall(inside, optimum, weights, near, float(steps[::-1][out[0]]), spread)
                yield
                if wall is not None and wall @ inside > 0:
                    walls.append(wall)
                    found = True
                    break
            if not found:
                return

    def _wall(
        self, inside: Floats, optimum: Floats, weights: Floats, low: float, high: float, spread: float
    ) -> Floats | None:
        """The plane through where segments near the one from inside to the optimum leave the cell."""
        space = self.space
        needed = len(inside) + 1
        count = 2 * needed
        others = space.draw(self.generator, count)
        shares = np.append(np.zeros(1), np.full(count - 1, spread))[:, None]
        first, last = (1 - shares) * inside + shares * others, (1 - shares) * optimum + shares * others
        lows, highs = np.full(count, max(0.0, low - 4 * spread)), np.full(count, min(1.0, high + 4 * spread))
        ends = np.concatenate([lows, highs])[:, None]
        belong = self._belong((1 - ends) * np.tile(first, (2, 1)) + ends * np.tile(last, (2, 1)), weights)
        good = np.flatnonzero(belong[:count] & ~belong[count:])[:needed]
        if len(good) < needed:
            return None
        first, last, lows, highs = first[good], last[good], lows[good], highs[good]
        for _ in range(HALVINGS):
            middle = (lows + highs) / 2
            points = (1 - middle[:, None]) * first + middle[:, None] * last
            belong = self._belong(points, weights)
            lows, highs = np.where(belong, middle, lows), np.where(belong, highs, middle)
        points = (1 - lows[:, None]) * first + lows[:, None] * last
        _, sizes, turned = np.linalg.svd(np.concatenate([points[:1], (points[1:] - points[0]) / spread]))
        if sizes[-1] > FLAT * sizes[-2]:
            return None
        normal = turned[-1]
        return np.asarray(normal * np.sign(normal @ inside))

    def neighbours(self) -> Floats:
        """Points near the end where the rule does something else, those with the largest ratios first."""
        if self.end is None:
            return np.zeros((0, self.space.size))
        others = self.space.draw(self.generator, 96)
        steps = np.resize(np.geomspace(1e-3, 0.3, 12), 96)[:, None]
        points = (1 - steps) * self.end + steps * others
        ratios = self._ratios(points)
        seen: list[Floats] = [] if self.last is None else [self.last]
        chosen = []
        for place in np.argsort(-ratios, kind="stable")[:LOOKS]:
            if any(
                abs(ratios[place] / self.space.expected(points[place : place + 1], each)[0] - 1) < 1e-6 for each in seen
            ):
                continue
            weights = self._weights(points[place])
            if weights is not None:
                seen.append(weights)
                chosen.append(points[place])
            if len(chosen) == BEAM:
                break
        return np.array(chosen).reshape(-1, self.space.size)


def _best_of(arena: Arena, generator: np.random.Generator, space: CellSpace, order: tuple[int, ...]) -> Floats:
    points = space.draw(generator, 256)
    ratios = arena.ratios(space.inputs(points), order)
    return np.asarray(points[np.argsort(-ratios, kind="stable")[:2]])


def _separated(places: Integers, m: int) -> Integers:
    """Groups of workers with the same role: honest ones and Byzantine ones apart, numbered in order."""
    labels = np.asarray(places) * 2 + (np.arange(len(places)) >= m)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return np.asarray(rank[inverse.reshape(-1)], dtype=np.int64)


def _moved(generator: np.random.Generator, x: Floats, m: int, kind: int) -> tuple[Floats, Integers]:
    """An input with other roles: a group is divided (kind 4), a worker joins another group (2); else with its own."""
    found = recovered(x, float(generator.choice([1e-6, 1e-2, 0.1])))
    groups = _separated(found.places[0], m)
    while groups.max() + 1 > MOST_GROUPS:
        first, second = generator.choice(int(groups.max()) + 1, size=2, replace=False)
        groups = _separated(np.where(groups == first, second, groups), m)
    if kind == 4 and groups.max() + 1 < MOST_GROUPS:
        groups = _split(generator, groups)
    if kind == 2:
        worker = int(generator.integers(len(x)))
        others = np.flatnonzero((np.arange(len(x)) >= m) == (worker >= m))
        target = int(generator.choice(others))
        x, groups = x.copy(), groups.copy()
        x[worker] = x[target]
        groups[worker] = groups[target]
    return x, _separated(groups, m)


def _split(generator: np.random.Generator, places: Integers) -> Integers:
    """One worker, or a part of its group, becomes a group of its own."""
    sizes = np.bincount(places)
    large = np.flatnonzero(sizes > 1)
    if not len(large):
        return places
    group = int(generator.choice(large))
    members = np.flatnonzero(places == group)
    count = 1 if generator.random() < 0.5 else int(generator.integers(1, len(members)))
    split = places.copy()
    split[members[-count:]] = len(sizes)
    return split


def _random_roles(arena: Arena, generator: np.random.Generator) -> Integers:
    """Up to four honest groups and up to two others; which comes first makes no difference, so the sizes rise."""
    honest = int(generator.integers(1, min(4, arena.m) + 1))
    cuts = np.sort(generator.choice(np.arange(1, arena.m), size=honest - 1, replace=False))
    sizes = np.sort(np.diff(np.concatenate([[0], cuts, [arena.m]])))
    apart = int(generator.integers(1, arena.f)) if arena.f > 1 and generator.random() < 0.5 else 0
    others = honest + (np.arange(arena.f) < min(apart, arena.f - apart))
    return np.concatenate([np.repeat(np.arange(honest), sizes), others]).astype(np.int64)
