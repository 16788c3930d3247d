"""The facts of a node, read strictly: what each of them is about, and which workers have the same role."""

from __future__ import annotations

from typing import Any

from kappaguard.rules.recipe.recipe import NearestSum, PivotDistance, Recipe, Round, Rounds, Subset
from kappaguard.verify.judge.rejected import demand

Fact = tuple[Any, ...]
SHAPES = {
    "pivot": "w",
    "pick": "s",
    "subset": "s",
    "row": "ws",
    "score": "wss",
    "pair": "s",
    "lead": "sw",
}
"""After the kind and a place: workers (w) and sets of workers (s)."""


class Situation:
    """A recipe, f, and facts that are known to be true."""

    def __init__(self, recipe: Recipe, f: int, facts: frozenset[Fact]) -> None:
        self.recipe, self.f, self.facts = recipe, f, facts
        self.n, self.m = recipe.n, recipe.n - f
        choice = recipe.choice
        self.rounds: tuple[Round, ...] = choice.rounds if isinstance(choice, Rounds) else ()
        self.rows: dict[tuple[int, int], frozenset[int]] = {}
        self.scores: dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]] = {}
        self.picks: dict[int, frozenset[int]] = {}
        self.pivot: int | None = None
        self.subset: frozenset[int] | None = None
        self.pairs: set[frozenset[int]] = set()
        self.lead: tuple[frozenset[int], int] | None = None
        for fact in sorted(facts, key=lambda fact: fact[:2]):
            self._take(fact)

    def _take(self, fact: Fact) -> None:
        match fact:
            case ("pivot", 0, i):
                demand(self.pivot is None, "two pivots")
                self.pivot = i
            case ("pick", r, members):
                demand(r in range(len(self.rounds)) and r not in self.picks, "a round is picked twice, or is none")
                demand(all(s in self.picks for s in range(r)), "a round is picked before its turn")
                demand(members <= self.pool(r) and len(members) == self.rounds[r].count, "a pick is not of the pool")
                self.picks[r] = members
            case ("subset", 0, members):
                choice = self.recipe.choice
                demand(isinstance(choice, Subset) and self.subset is None, "the recipe selects no subset, or two")
                demand(len(members) == choice.size, "the subset has another size")  # type: ignore[union-attr]
                self.subset = members
            case ("row", layer, i, members):
                demand(
                    layer in range(len(self.recipe.mixing)) and (layer, i) not in self.rows, "a row is decided twice"
                )
                demand(i in members and len(members) == self.recipe.mixing[layer], "a row of another size")
                self.rows[layer, i] = members
            case ("score", r, i, inside, outside):
                demand(r in self.picks and (r, i) not in self.scores, "a score is decided twice, or before its round")
                others = self.pool(r) - {i}
                demand(i in self.pool(r) and inside <= others and outside <= others, "a score is not of the pool")
                demand(not inside & outside and len(inside) <= self.count(r), "a score's set is impossible")
                self.scores[r, i] = (inside, outside)
            case ("pair", 0, members):
                demand((len(members) == 2 and self.subset is None) or True, "not a pair")
                demand(len(members) == 2, "not a pair")
                self.pairs.add(members)
            case ("lead", 0, members, i):
                demand(self.lead is None and i in members, "two leads, or a lead from outside")
                self.lead = (members, i)
            case _:
                demand(False, f"no fact is like {str(fact)[:80]}")

    def pool(self, r: int) -> frozenset[int]:
        """Who is still there in a round."""
        return frozenset(range(self.n)).difference(*(self.picks[s] for s in range(r)))

    def count(self, r: int) -> int:
        """How many distances make up a score."""
        score = self.rounds[r].score
        demand(isinstance(score, NearestSum), "the scores of this round are no sums")
        return score.count  # type: ignore[union-attr]

    def selected(self) -> frozenset[int]:
        """Whose vectors are averaged."""
        if isinstance(self.recipe.choice, Subset):
            demand(self.subset is not None, "the subset is not decided")
            return self.subset or frozenset()
        demand(len(self.picks) == len(self.rounds), "a round is not decided")
        kept = [members for r, members in self.picks.items() if self.rounds[r].keep]
        if kept:
            return frozenset().union(*kept)
        return frozenset(range(self.n)).difference(*self.picks.values())

    def recipe_pivot(self) -> int | None:
        """The pivot of the recipe, if it has one; two different ones are not understood here."""
        pivots = {each.score.pivot for each in self.rounds if isinstance(each.score, PivotDistance)}
        demand(len(pivots) <= 1, "a recipe with two pivots")
        return next(iter(pivots), None)

    def roles(self, *marked: Any) -> list[list[int]]:
        """Classes of workers whose exchange leaves the facts, and marked workers and sets, alone."""
        facts = self.facts | {("mark", 0, mark) for mark in marked}
        parts = [part for fact in facts for part in fact[2:]]
        named = {part for part in parts if not isinstance(part, frozenset)}
        sets = {part for part in parts if isinstance(part, frozenset)}
        classes: list[list[int]] = []
        for i in range(self.n):
            for members in classes:
                j = members[0]
                if (i < self.m) != (j < self.m):
                    continue
                if (i in named) != (j in named):
                    continue
                if i in named:
                    alike = frozenset(exchanged(fact, i, j) for fact in facts) == facts
                else:
                    alike = all((i in part) == (j in part) for part in sets)
                if alike:
                    members.append(i)
                    break
            else:
                classes.append([i])
        return classes


def exchanged(fact: Fact, i: int, j: int) -> Fact:
    """The fact with the names of two workers exchanged."""
    return renamed(fact, {i: j, j: i})


def renamed(fact: Fact, names: dict[int, int]) -> Fact:
    """The fact about workers with other names."""
    return fact[:2] + tuple(
        frozenset(names.get(k, k) for k in part) if isinstance(part, frozenset) else names.get(part, part)
        for part in fact[2:]
    )
