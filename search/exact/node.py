"""A node of the search: what its facts say about the worst ratio, and how it can be divided.

The facts fix some decisions of the recipe. What they imply is a list of inequalities between forms, each with a name
that the checker understands; ``kappaguard.verify.judge`` works out their meaning for itself.

    ("row", l, i, a, b)       a is among the nearest of i in layer l, b is not
    ("reach", l, i, T)        the free mean of i's nearest is within the mean square distance to any T of that size
    ("drift", l, i, T)        ... and near to the mean of T
    ("drifts", l, K, M)       the free means of K, part of M, drift from the mean of M together
    ("directed", l, K, M)     ... and apart from each other even less
    ("gap", l, i, j, M)       two free means are not far apart
    ("taken", r, a, T)        the score of a, which leaves the pool in round r, is at most (at least) the threshold
    ("left", r, b, T)         that of b, which stays, is at least (at most) the threshold
    ("within", i, j)          two of the selected subset are at most its diameter apart
    ("apart", p, q)           this pair is at least that far apart
    ("subset", T)             T has at least the variance of the selected subset

T is a set of workers that a sum runs over; None where a score is a single distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from kappaguard.rules.recipe.recipe import MeanDistance, NearestSum, PivotDistance, Recipe, Round, Rounds, Subset
from kappaguard.search.exact.facts import Facts, roles_of
from kappaguard.search.exact.space import Floats, Space

Name = tuple[Any, ...]
SLACK = 1e-7
"""An inequality that is violated by less, relatively, is taken as satisfied."""


class Node:
    """Forms and decisions under some facts; the first n - f workers are honest."""

    def __init__(self, recipe: Recipe, f: int, facts: Facts) -> None:
        self.recipe, self.f, self.facts = recipe, f, facts
        self.n, self.h = recipe.n, recipe.n - f
        self.layers = len(recipe.mixing)
        self.rows = {(fact[1], fact[2]): fact[3] for fact in facts if fact[0] == "row"}
        self.sets = {(fact[1], fact[2]): (fact[3], fact[4]) for fact in facts if fact[0] == "score"}
        self.picks = {fact[1]: fact[2] for fact in facts if fact[0] == "pick"}
        self.pivot = next((fact[2] for fact in facts if fact[0] == "pivot"), None)
        self.pairs = [fact[2] for fact in facts if fact[0] == "pair"]
        self.leads = [fact[2:] for fact in facts if fact[0] == "lead"]
        self.subset = next((fact[2] for fact in facts if fact[0] == "subset"), None)
        self.roles = roles_of(facts, self.n, self.h)
        kinds = [
            (0, *(layer + 1 for layer in range(self.layers) if (layer, role[0]) not in self.rows))
            for role in self.roles
        ]
        self.space = Space(self.n, self.roles, kinds, self.scalars)
        self.first = [role[0] for role in self.roles]
        self._vectors: dict[tuple[int, int], Floats] = {}
        self._distances: dict[tuple[int, int, int], Floats] = {}

    # --- vectors and forms

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds of the recipe, none if it selects a subset."""
        return self.recipe.choice.rounds if isinstance(self.recipe.choice, Rounds) else ()

    @property
    def scalars(self) -> int:
        """One threshold a round, or the diameter."""
        choice = self.recipe.choice
        return len(self.rounds) or int(isinstance(choice, Subset) and choice.measure == "diameter")

    def vector(self, layer: int, i: int) -> Floats:
        """The coefficients of worker i's vector in a layer."""
        key = (layer, i)
        if key not in self._vectors:
            if layer and (layer - 1, i) in self.rows:
                members = self.rows[layer - 1, i]
                found = sum((self.vector(layer - 1, j) for j in members), np.zeros((self.layers + 1, self.n)))
                self._vectors[key] = found / len(members)
            else:
                unit = np.zeros((self.layers + 1, self.n))
                unit[layer, i] = 1.0
                self._vectors[key] = unit
        return self._vectors[key]

    def distance(self, layer: int, i: int, j: int) -> Floats:
        """The squared distance of two workers' vectors in a layer."""
        role_of = self.space.role_of
        key = (layer, role_of[i], role_of[j])
        if key not in self._distances:
            self._distances[key] = self.space.square(self.vector(layer, i) - self.vector(layer, j))
        return self._distances[key]

    def total(self, layer: int, i: int, members: Iterable[int]) -> Floats:
        """The sum of squared distances from i to others."""
        counts: dict[int, list[int]] = {}
        for j in members:
            if j != i:
                counts.setdefault(self.space.role_of[j], []).append(j)
        form = self.space.zero()
        for same in counts.values():
            form += len(same) * self.distance(layer, i, same[0])
        return form

    def mean(self, layer: int, members: Iterable[int]) -> Floats:
        """The coefficients of the mean of some workers' vectors."""
        chosen = list(members)
        if layer == 0:
            total = np.zeros((self.layers + 1, self.n))
            total[0, chosen] = 1.0 / len(chosen)
            return total
        return sum((self.vector(layer, i) for i in chosen), np.zeros((self.layers + 1, self.n))) / len(chosen)

    @cached_property
    def variance(self) -> Floats:
        """The variance of the honest inputs."""
        centre = self.mean(0, range(self.h))
        form = self.space.zero()
        for role in self.roles:
            if role[0] < self.h:
                form += len(role) / self.h * self.space.square(self.vector(0, role[0]) - centre)
        return form

    @cached_property
    def selected(self) -> frozenset[int]:
        """The workers whose vectors are averaged; empty as long as that is open."""
        if isinstance(self.recipe.choice, Subset):
            return self.subset or frozenset()
        if len(self.picks) < len(self.rounds):
            return frozenset()
        if self.recipe.choice.keeps:  # type: ignore[union-attr]
            return frozenset().union(*(self.picks[r] for r, each in enumerate(self.rounds) if each.keep))
        return frozenset(range(self.n)).difference(*self.picks.values())

    @cached_property
    def error(self) -> Floats:
        """The squared error of the output."""
        replaced = {i: lead for members, lead in self.leads for i in members}
        output = np.zeros((self.layers + 1, self.n))
        for i in self.selected:
            output += self.vector(self.layers, replaced.get(i, i)) / len(self.selected)
        return self.space.square(output - self.mean(0, range(self.h)))

    # --- inequalities

    def pool(self, r: int) -> frozenset[int]:
        """The workers that are still there in a round."""
        return frozenset(range(self.n)).difference(*(self.picks[s] for s in range(r)))

    def score(self, r: int, i: int, members: Iterable[int] | None) -> Floats:
        """The form of a score: the sum over members, or a single distance."""
        match self.rounds[r].score:
            case NearestSum():
                assert members is not None
                return self.total(self.layers, i, members)
            case MeanDistance():
                centre = self.mean(self.layers, self.pool(r))
                return self.space.square(self.vector(self.layers, i) - centre)
            case PivotDistance():
                assert self.pivot is not None
                if i == self.pivot:
                    return self.space.zero()
                return self.distance(self.layers, i, self.pivot)

    def form(self, name: Name) -> Floats:
        """The form that a name says is not negative."""
        match name:
            case ("row", layer, i, a, b):
                return self.distance(layer, i, b) - self.distance(layer, i, a)
            case ("reach", layer, i, members):
                reach = self.space.square(self.vector(layer + 1, i) - self.vector(layer, i))
                return self.total(layer, i, members) - len(members) * reach
            case ("drift", layer, i, members):
                k = len(members)
                drift = self.space.square(self.vector(layer + 1, i) - self.mean(layer, members))
                return 4 * min(k, self.n - k) * self.total(layer, i, members) - k * k * drift
            case ("drifts", layer, some, members):
                k = len(members)
                centre = self.mean(layer, members)
                touched = self.spread(members, layer) - self.spread(members - some, layer)
                form = 4 * (self.n - k) * touched
                for role in self.roles:
                    count = sum(i in some for i in role)
                    if count:
                        i = next(i for i in role if i in some)
                        form -= count * k * k * self.space.square(self.vector(layer + 1, i) - centre)
                return form
            case ("directed", layer, some, members):
                free, size, k = self.n - len(members), len(some), len(members)
                middle = self.mean(layer + 1, some)
                bias = self.space.square(middle - self.mean(layer, members))
                form = 4 * free * (free + size) * (2 * free + size) / k**3 * self.spread(members, layer)
                form -= (2 * free + size) * size * bias
                for role in self.roles:
                    count = sum(i in some for i in role)
                    if count:
                        i = next(i for i in role if i in some)
                        off = self.space.square(self.vector(layer + 1, i) - middle)
                        form -= count * 2 * (free + size) * off
                return k**3 * form
            case ("gap", layer, i, j, members):
                gap = self.distance(layer + 1, i, j)
                return 4 * (self.n - len(members) + 1) ** 2 * self.spread(members, layer) - len(members) ** 3 * gap
            case ("taken" | "left" as kind, r, i, members):
                below = (kind == "taken") != self.rounds[r].greatest
                difference = self.space.scalar(r) - self.score(r, i, members)
                return difference if below else -difference
            case ("within", i, j):
                return self.space.scalar(0) - self.distance(self.layers, i, j)
            case ("apart", p, q):
                return self.distance(self.layers, p, q) - self.space.scalar(0)
            case ("subset", members):
                return self.spread(members) - self.spread(self.subset or ())
        raise AssertionError(f"no inequality is called {name}")

    def spread(self, members: Iterable[int], layer: int | None = None) -> Floats:
        """The sum of squared distances over pairs of members, in the last layer unless another is given."""
        layer = self.layers if layer is None else layer
        groups: dict[int, list[int]] = {}
        for i in members:
            groups.setdefault(self.space.role_of[i], []).append(i)
        form = self.space.zero()
        parts = list(groups.values())
        for index, part in enumerate(parts):
            if len(part) > 1:
                form += len(part) * (len(part) - 1) / 2 * self.distance(layer, part[0], part[1])
            for other in parts[index + 1 :]:
                form += len(part) * len(other) * self.distance(layer, part[0], other[0])
        return form

    def others(self, i: int, pool: Iterable[int] | None = None) -> list[int]:
        """One worker of every role besides i, of a pool if one is given."""
        allowed = None if pool is None else set(pool)
        found = []
        for role in self.roles:
            for j in role:
                if j != i and (allowed is None or j in allowed):
                    found.append(j)
                    break
        return found

    def names(self) -> list[Name]:
        """The inequalities that need no point to be found."""
        honest = frozenset(range(self.h))
        found: list[Name] = []
        for layer, k in enumerate(self.recipe.mixing):
            for i in self.first:
                members = self.rows.get((layer, i))
                if members is None:
                    near = honest if k == self.h else self._some(i, k)
                    found += [("reach", layer, i, near), ("drift", layer, i, near)]
                    continue
                inside = [j for j in self.others(i) if j in members]
                outside = [j for j in self.others(i) if j not in members]
                found += [("row", layer, i, a, b) for a in inside for b in outside]
        found += [name for r in range(len(self.rounds)) for name in self._round_names(r)]
        if self.subset is not None and self.recipe.choice.measure == "diameter":  # type: ignore[union-attr]
            for i in self.first:
                if i in self.subset:
                    found += [("within", i, j) for j in self.others(i, self.subset) if j >= i]
            found += [("apart", *sorted(pair)) for pair in self.pairs]
        elif self.subset is not None and len(self.subset) <= self.h:
            found.append(("subset", frozenset(range(len(self.subset)))))
        return found

    def _some(self, i: int, k: int) -> frozenset[int]:
        order = [i, *(j for j in range(self.n) if j != i)]
        return frozenset(order[:k])

    def _round_names(self, r: int) -> list[Name]:
        pool, taken = self.pool(r), self.picks[r]
        each = self.rounds[r]
        found: list[Name] = []
        for i in self.first:
            if i not in pool:
                continue
            kind = "taken" if i in taken else "left"
            if not isinstance(each.score, NearestSum):
                found.append((kind, r, i, None))
            elif self.is_bounded_below(r, i):
                if (r, i) in self.sets:
                    found.append((kind, r, i, self.sets[r, i][0]))
            else:
                found.append((kind, r, i, frozenset(sorted(pool - {i})[: each.score.count])))
        return found

    def is_bounded_below(self, r: int, i: int) -> bool:
        """Whether i's score, a minimum, has to be small: its pieces must be split; else they are cuts."""
        return (i in self.picks[r]) != self.rounds[r].greatest

    # --- cuts and divisions at a point of the program

    def nearest(self, point: Floats, layer: int, i: int, count: int, pool: Iterable[int]) -> list[int]:
        """The members of the pool other than i that are nearest to it at a point."""
        keyed = sorted((float(point @ self.distance(layer, i, j)), j) for j in self.others(i, pool))
        allowed = set(pool) - {i}
        found: list[int] = []
        for _, j in keyed:
            same = [k for k in self.roles[self.space.role_of[j]] if k in allowed]
            found += same[: count - len(found)]
            if len(found) == count:
                break
        return found

    def cuts(self, point: Floats) -> list[Name]:
        """Valid inequalities that the point violates."""
        found: list[Name] = self._drifts(point)
        for r, each in enumerate(self.rounds):
            if not isinstance(each.score, NearestSum):
                continue
            pool = self.pool(r)
            threshold = float(point[self.space.first_scalar + r])
            for i in self.first:
                if i in pool and not self.is_bounded_below(r, i):
                    members = self.nearest(point, self.layers, i, each.score.count, pool)
                    if float(point @ self.total(self.layers, i, members)) < threshold - SLACK * (1 + threshold):
                        kind = "taken" if i in self.picks[r] else "left"
                        found.append((kind, r, i, frozenset(members)))
        if self.subset is not None and self.recipe.choice.measure == "variance":  # type: ignore[union-attr]
            tighter = self._tighter(point)
            if tighter is not None:
                found.append(("subset", tighter))
        return found

    def _drifts(self, point: Floats) -> list[Name]:
        """Of the inequalities on how far several rows drift, of each kind the one that is violated most."""
        best: dict[str, tuple[float, Name]] = {}
        for layer, k in enumerate(self.recipe.mixing):
            if k != self.h:
                continue
            honest = frozenset(range(self.h))
            roles = [role for role in self.roles if role[0] < self.h and (layer, role[0]) not in self.rows]
            for size in range(1, len(roles) + 1):
                for some in combinations(roles, size):
                    members = frozenset().union(*some)
                    for kind in ("drifts", "directed"):
                        if len(members) == 1 and kind == "drifts":
                            continue
                        name = (kind, layer, members, honest)
                        form = self.form(name)
                        violation = float(point @ form) / float(np.abs(form).max())
                        if violation < min(-SLACK, best.get(kind, (0.0,))[0]):
                            best[kind] = (violation, name)
        return [name for _, name in best.values()] + self._gaps(point)

    def _gaps(self, point: Floats) -> list[Name]:
        """Pairs of free rows that are farther apart than they can be."""
        found: list[Name] = []
        honest = frozenset(range(self.h))
        for layer, k in enumerate(self.recipe.mixing):
            if k != self.h or k == self.n:
                continue
            for i in (i for i in self.first if i < self.h):
                for j in self.others(i, honest):
                    name = ("gap", layer, i, j, honest)
                    form = self.form(name)
                    if j > i and float(point @ form) < -SLACK * float(np.abs(form).max()):
                        found.append(name)
        return found

    def _role_distances(self, point: Floats) -> Floats:
        count = len(self.roles)
        table = np.zeros((count, count))
        for a, role in enumerate(self.roles):
            for b, other in enumerate(self.roles[: a + 1]):
                j = other[-1]
                if role[0] != j:
                    table[a, b] = table[b, a] = float(point @ self.distance(self.layers, role[0], j))
        return table

    def _tighter(self, point: Floats) -> frozenset[int] | None:
        """A subset with a smaller variance than the selected one: by exchanges, from several starts, or by counting."""
        assert self.subset is not None
        table, sizes = self._role_distances(point), [len(role) for role in self.roles]
        limit = float(point @ self.spread(self.subset))
        limit -= SLACK * (1 + limit)
        if math.prod(size + 1 for size in sizes) > 200_000:
            return None
        counts = (
            np.array(np.meshgrid(*[np.arange(size + 1) for size in sizes], indexing="ij")).reshape(len(sizes), -1).T
        )
        counts = counts[counts.sum(axis=1) == len(self.subset)]
        off = table - np.diag(np.diag(table))
        values = np.einsum("ka,ab,kb->k", counts, off, counts) / 2 + (counts * (counts - 1) / 2) @ np.diag(table)
        best = int(np.argmin(values))
        if values[best] >= limit:
            return None
        return frozenset(j for role, count in zip(self.roles, counts[best], strict=True) for j in role[:count])
