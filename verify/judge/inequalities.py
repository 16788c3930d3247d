"""What the facts of a node imply, by name, and whether multipliers prove the bound there.

Every name stands for a form that is not negative in any state of the node; the package's docstring has the lemmas.

    ("row", l, i, a, b)      d(i, b) - d(i, a), a in the row of i in layer l and b not
    ("reach", l, i, T)       sum over T of d(i, j) - k ||y_i - v_i||^2
    ("drift", l, i, T)       4 min(k, n - k) sum over T of d(i, j) - k^2 ||y_i - mean_T||^2
    ("drifts", l, K, M)      4 (n - k) sum of d over pairs of M that touch K - k^2 sum over K of ||y_i - mean_M||^2
    ("directed", l, K, M)    4 g (g + s) (2 g + s) sum of d over pairs of M - k^3 ((2 g + s) s ||z - mean_M||^2
                             + 2 (g + s) sum over K of ||y_i - z||^2), s = |K|, g = n - k, z the mean of y over K
    ("gap", l, i, j, M)      4 (n - k + 1)^2 sum of d over pairs of M - k^3 ||y_i - y_j||^2
    ("taken", r, i, T)       t - score or score - t of a worker who leaves the pool in round r
    ("left", r, i, T)        the same of one who stays
    ("within", i, j)         D - d(i, j) for two of the selected subset, D its diameter
    ("apart", p, q)          d(p, q) - D for a pair that a fact says is at least that far apart
    ("subset", T)            sum of d over pairs of T - the same over the selected subset, of least variance
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations
from typing import Any

from kappaguard.rules.recipe.recipe import MeanDistance, NearestSum, PivotDistance, Subset
from kappaguard.verify.judge.forms import Form, Vector
from kappaguard.verify.judge.rejected import demand
from kappaguard.verify.judge.situation import Situation

ONE = Fraction(1)
Name = tuple[Any, ...]


class Proof:
    """upper * V - error - sum of multipliers times inequalities, at one node."""

    def __init__(self, situation: Situation, upper: Fraction) -> None:
        self.situation = situation
        self.roles = situation.roles()
        self.form = Form(self.roles)
        self.last = len(situation.recipe.mixing)
        self._vectors: dict[tuple[int, int], Vector] = {}
        self._pairs: dict[tuple[int, int, int], tuple[int, int, Fraction]] = {}
        honest = range(situation.m)
        centre = self.mean(0, honest)
        for members in self.roles:
            if members[0] in honest:
                share = upper * len(members) / situation.m
                self.form.add_square(share, _minus(self.vector(0, members[0]), centre))
        self.form.add_square(-ONE, _minus(self._output(), centre))

    def _output(self) -> Vector:
        selected = self.situation.selected()
        lead = self.situation.lead
        if lead is not None:
            demand(lead[0] <= selected, "a lead of workers that are not in the output")
        total: Vector = {}
        for i in selected:
            _add(total, Fraction(1, len(selected)), self.vector(self.last, lead[1] if lead and i in lead[0] else i))
        return total

    def vector(self, layer: int, i: int) -> Vector:
        """Worker i's vector of a layer: the mean of its row if that is decided, else an atom."""
        if (layer, i) not in self._vectors:
            members = self.situation.rows.get((layer - 1, i))
            found: Vector = {(layer, i): ONE} if members is None else self.mean(layer - 1, members)
            self._vectors[layer, i] = found
        return self._vectors[layer, i]

    def mean(self, layer: int, members: Iterable[int]) -> Vector:
        """The mean of some workers' vectors of a layer."""
        chosen = set(members)
        share, total = Fraction(1, len(chosen)), dict[tuple[int, int], Fraction]()
        if layer == 0:
            for role, workers in enumerate(self.roles):
                if len(workers) > 1 and chosen.issuperset(workers):
                    total[0, -1 - role] = share * len(workers)
                    chosen.difference_update(workers)
        for i in chosen:
            _add(total, share, self.vector(layer, i))
        return total

    def subtract(self, name: Name, weight: Fraction) -> None:
        """Take ``weight`` times a valid inequality from the form."""
        demand(weight >= 0, f"the multiplier of {name[:3]} is negative")
        self._inequality(name, -weight)

    def finish(self) -> bool:
        """Whether what is left is nowhere negative."""
        for (layer, _, _), (i, j, factor) in self._pairs.items():
            if factor:
                self.form.add_square(factor, _minus(self.vector(layer, i), self.vector(layer, j)))
        return self.form.is_nonnegative()

    def _distance(self, factor: Fraction, layer: int, i: int, j: int) -> None:
        """factor d(i, j). Averaged, it is the same for all pairs of two roles, so equal ones are collected."""
        if i == j:
            return
        key = (layer, self.form.role_of[i], self.form.role_of[j])
        first, second, before = self._pairs.get(key, (i, j, Fraction(0)))
        self._pairs[key] = (first, second, before + factor)

    def _distances(self, factor: Fraction, layer: int, i: int, members: Iterable[int]) -> None:
        counts: dict[int, tuple[int, int]] = {}
        for j in members:
            if j != i:
                role = self.form.role_of[j]
                counts[role] = (j, counts.get(role, (j, 0))[1] + 1)
        for j, count in counts.values():
            self._distance(factor * count, layer, i, j)

    def _spread(self, factor: Fraction, layer: int, members: Iterable[int]) -> None:
        for i, j in combinations(sorted(members), 2):
            self._distance(factor, layer, i, j)

    def _inequality(self, name: Name, weight: Fraction) -> None:
        situation = self.situation
        match name:
            case ("row", layer, i, a, b):
                members = situation.rows.get((layer, i), frozenset())
                demand(a in members and b not in members and bool(members), "no such row")
                self._distance(weight, layer, i, b)
                self._distance(-weight, layer, i, a)
            case ("reach", layer, i, members):
                k = self._mixing(layer, members)
                self._distances(weight, layer, i, members)
                self.form.add_square(-weight * k, _minus(self.vector(layer + 1, i), self.vector(layer, i)))
            case ("drift", layer, i, members):
                k = self._mixing(layer, members)
                self._distances(weight * 4 * min(k, situation.n - k), layer, i, members)
                self.form.add_square(-weight * k * k, _minus(self.vector(layer + 1, i), self.mean(layer, members)))
            case ("drifts", layer, some, members):
                k = self._mixing(layer, members)
                demand(some <= members, "the rows are not of the set")
                self._spread(weight * 4 * (situation.n - k), layer, members)
                self._spread(-weight * 4 * (situation.n - k), layer, members - some)
                centre = self.mean(layer, members)
                for i in some:
                    self.form.add_square(-weight * k * k, _minus(self.vector(layer + 1, i), centre))
            case ("directed", layer, some, members):
                k = self._mixing(layer, members)
                demand(bool(some) and some <= members, "the rows are not of the set")
                gap, size = situation.n - k, len(some)
                self._spread(weight * 4 * gap * (gap + size) * (2 * gap + size), layer, members)
                middle = self.mean(layer + 1, some)
                bias = _minus(middle, self.mean(layer, members))
                self.form.add_square(-weight * k**3 * (2 * gap + size) * size, bias)
                for i in some:
                    off = _minus(self.vector(layer + 1, i), middle)
                    self.form.add_square(-weight * k**3 * 2 * (gap + size), off)
            case ("gap", layer, i, j, members):
                k = self._mixing(layer, members)
                demand(k < situation.n and {i, j} <= members and i != j, "no such pair of rows")
                self._spread(weight * 4 * (situation.n - k + 1) ** 2, layer, members)
                self._distance(-weight * k**3, layer + 1, i, j)
            case ("taken" | "left" as kind, r, i, members):
                self._threshold(kind, r, i, members, weight)
            case ("within", i, j):
                self._require_measure("diameter")
                demand(situation.subset is not None and {i, j} <= situation.subset, "a pair outside the subset")
                self.form.add_scalar(weight, 0)
                self._distance(-weight, self.last, i, j)
            case ("apart", p, q):
                self._require_measure("diameter")
                demand(frozenset((p, q)) in situation.pairs, "no fact about this pair")
                self._distance(weight, self.last, p, q)
                self.form.add_scalar(-weight, 0)
            case ("subset", members):
                self._require_measure("variance")
                demand(
                    situation.subset is not None and len(members) == len(situation.subset), "a subset of another size"
                )
                self._spread(weight, self.last, members)
                self._spread(-weight, self.last, situation.subset or ())
            case _:
                demand(False, f"no inequality is called {str(name)[:80]}")

    def _mixing(self, layer: int, members: frozenset[int]) -> int:
        demand(layer in range(self.last), "no such layer")
        demand(len(members) == self.situation.recipe.mixing[layer], "a set of another size than the rows")
        return len(members)

    def _require_measure(self, measure: str) -> None:
        choice = self.situation.recipe.choice
        demand(isinstance(choice, Subset) and choice.measure == measure, f"the recipe compares no {measure}")

    def _threshold(self, kind: str, r: int, i: int, members: frozenset[int] | None, weight: Fraction) -> None:
        """t - score where scores are at most the threshold, score - t where they are at least that."""
        situation = self.situation
        demand(r in situation.picks and i in situation.pool(r), "no such score")
        demand((i in situation.picks[r]) == (kind == "taken"), f"worker {i} is not {kind} in round {r}")
        each = situation.rounds[r]
        below = (kind == "taken") != each.greatest
        sign = -weight if below else weight
        self.form.add_scalar(-sign, r)
        match each.score:
            case NearestSum(count):
                demand(members is not None, "a score needs a set")
                members = members or frozenset()
                if below:
                    demand((r, i) in situation.scores, "nothing is known about this score")
                    demand(members <= situation.scores[r, i][0], "a set that need not be part of the score")
                else:
                    demand(members <= situation.pool(r) - {i} and len(members) == count, "not a possible score")
                self._distances(sign, self.last, i, members)
            case MeanDistance():
                demand(members is None, "this score has no set")
                centre = self.mean(self.last, situation.pool(r))
                self.form.add_square(sign, _minus(self.vector(self.last, i), centre))
            case PivotDistance():
                demand(members is None and situation.pivot is not None, "this score has no set, and needs a pivot")
                self._distance(sign, self.last, i, situation.pivot or 0)


def _add(total: Vector, factor: Fraction, vector: Vector) -> None:
    for atom, value in vector.items():
        total[atom] = total.get(atom, Fraction(0)) + factor * value


def _minus(left: Vector, right: Vector) -> Vector:
    result = dict(left)
    _add(result, -ONE, right)
    return {atom: value for atom, value in result.items() if value}
