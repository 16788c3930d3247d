"""How a node is divided: a disjunction that every input of the node satisfies, one child per case.

Cases that differ only by an exchange of workers of one role are one case: the numbers per role count, and the first
workers of each role stand for all.

    ("pivot",)             who the pivot is
    ("pick", r)            who leaves the pool in round r
    ("subset",)            which subset has the least measure
    ("row", l, i)          which vectors are nearest to i in layer l
    ("score", r, a, O)     how many of O, undecided workers of one role, are in the set that makes up a's score
    ("pairs", T)           which two of the subset T are at least as far apart as the selected ones
    ("lead", O)            the worker of O whose vector, put in place of all of O, does not shrink the error
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kappaguard.rules.recipe.recipe import NearestSum, PivotDistance, Recipe, Rounds, Subset
from kappaguard.search.exact.facts import Fact, Facts, roles_of
from kappaguard.search.exact.node import SLACK, Node
from kappaguard.search.exact.space import Floats

CHOSEN = 5.0
"""How much more an undecided row counts if its vector is part of the output."""


@dataclass(frozen=True)
class Division:
    """The name of a disjunction and its cases: the new fact of each, and all facts of the child."""

    name: tuple[Any, ...]
    cases: tuple[tuple[Fact, Facts], ...]


def divide(node: Node, point: Floats | None, value: float) -> Division | None:
    """The next division of a node; None if its decisions are all made as far as they matter at the point."""
    return first_choices(node) or _diameter(node, point) or _scores_and_rows(node, point, value)


def first_choices(node: Node) -> Division | None:
    """The decisions without which there is no output."""
    recipe, facts = node.recipe, node.facts
    pivot = pivot_of(recipe)
    if pivot is not None and node.pivot is None:
        places = [0] if recipe.trusted == pivot or not node.f else [0, node.h]
        return _division(("pivot",), facts, [("pivot", 0, i) for i in places])
    if isinstance(recipe.choice, Subset) and node.subset is None:
        sets = compositions(node.roles, recipe.choice.size, range(node.n))
        return _division(("subset",), facts, [("subset", 0, chosen) for chosen in sets])
    for r, each in enumerate(node.rounds):
        if r not in node.picks:
            sets = compositions(node.roles, each.count, node.pool(r))
            return _division(("pick", r), facts, [("pick", r, chosen) for chosen in sets])
    return None


def pivot_of(recipe: Recipe) -> int | None:
    """The worker that scores are measured from, if there is one."""
    rounds = recipe.choice.rounds if isinstance(recipe.choice, Rounds) else ()
    return next((each.score.pivot for each in rounds if isinstance(each.score, PivotDistance)), None)


def compositions(roles: list[list[int]], size: int, pool: Iterable[int]) -> Iterator[frozenset[int]]:
    """Sets of a size out of the pool, one for every way to take numbers from the roles."""
    allowed = set(pool)
    groups = [[i for i in role if i in allowed] for role in roles]

    def build(index: int, left: int, room: int) -> Iterator[tuple[int, ...]]:
        if index == len(groups):
            if left == 0:
                yield ()
            return
        room -= len(groups[index])
        for count in range(max(0, left - room), min(len(groups[index]), left) + 1):
            for rest in build(index + 1, left - count, room):
                yield (*groups[index][:count], *rest)

    for members in build(0, size, sum(map(len, groups))):
        yield frozenset(members)


def lead(node: Node) -> Division | None:
    """One of several Byzantine workers in the output stands for all; only before anything else is decided."""
    if any(fact[0] not in ("pivot", "pick", "subset") for fact in node.facts):
        return None
    for role in node.roles:
        if role[0] >= node.h and len(role) > 1 and role[0] in node.selected and not node.leads:
            members = frozenset(role)
            return _division(("lead", members), node.facts, [("lead", 0, members, role[0])])
    return None


def row(node: Node, layer: int, i: int) -> Division:
    """All neighbourhoods of one worker in one layer."""
    roles = [[j for j in role if j != i] for role in node.roles]
    sets = compositions([role for role in roles if role], node.recipe.mixing[layer] - 1, range(node.n))
    return _division(("row", layer, i), node.facts, [("row", layer, i, members | {i}) for members in sets])


def _division(name: tuple[Any, ...], facts: Facts, cases: Iterable[Fact]) -> Division:
    return Division(name, tuple((fact, facts | {fact}) for fact in cases))


def _diameter(node: Node, point: Floats | None) -> Division | None:
    choice = node.recipe.choice
    if not isinstance(choice, Subset) or choice.measure != "diameter" or node.subset is None:
        return None
    if node.pairs and _worst_row(node, point) is not None:
        # as long as mixed vectors are free, which of them are near to each other says little
        return None
    if not node.pairs:
        members: frozenset[int] | None = frozenset(range(choice.size))
    else:
        members = None if point is None else _narrower(node, point, choice.size)
    if members is None:
        return None
    marked = node.facts | {("mark", 0, members)}
    pairs: dict[tuple[int, int], frozenset[int]] = {}
    roles = [role for role in roles_of(marked, node.n, node.h) if role[0] in members]
    for a, role in enumerate(roles):
        if len(role) > 1:
            pairs[a, a] = frozenset(role[:2])
        for b in range(a):
            pairs[b, a] = frozenset((roles[b][0], role[0]))
    return _division(("pairs", members), node.facts, [("pair", 0, pair) for pair in pairs.values()])


def _narrower(node: Node, point: Floats, size: int) -> frozenset[int] | None:
    """A subset of the size whose diameter at the point is smaller than the selected one's."""
    table = node._role_distances(point)
    diameter = float(point[node.space.first_scalar])
    limit = diameter - SLACK * (1 + diameter)
    alone = [1 if len(role) > 1 and table[a, a] >= limit else len(role) for a, role in enumerate(node.roles)]

    def grow(index: int, chosen: list[int], count: int) -> list[int] | None:
        if count >= size:
            return chosen
        if index == len(node.roles) or count + sum(alone[index:]) < size:
            return None
        if all(table[index, other] < limit for other in chosen):
            found = grow(index + 1, [*chosen, index], count + alone[index])
            if found is not None:
                return found
        return grow(index + 1, chosen, count)

    found = grow(0, [], 0)
    if found is None:
        return None
    return frozenset([i for a in found for i in node.roles[a][: alone[a]]][:size])


def _scores_and_rows(node: Node, point: Floats | None, value: float) -> Division | None:
    score = _worst_score(node, point)
    if node.layers and (score is None or np.isfinite(value)):
        found = _worst_row(node, point)
        if found is not None:
            return row(node, *found)
    if score is None:
        return None
    r, a = score
    return _score_division(node, point, r, a)


def _worst_score(node: Node, point: Floats | None) -> tuple[int, int] | None:
    """The undecided score that violates its threshold most."""
    best: tuple[float, int, int] | None = None
    for r, each in enumerate(node.rounds):
        if not isinstance(each.score, NearestSum):
            continue
        pool = node.pool(r)
        for a in node.first:
            if a not in pool or not node.is_bounded_below(r, a):
                continue
            inside, _ = node.sets.get((r, a), (frozenset(), frozenset()))
            if len(inside) == each.score.count:
                continue
            violation = 1.0
            if point is not None:
                threshold = float(point[node.space.first_scalar + r])
                members = node.nearest(point, node.layers, a, each.score.count, pool)
                violation = float(point @ node.total(node.layers, a, members)) - threshold
                if violation <= SLACK * (1 + threshold):
                    continue
            if best is None or violation > best[0]:
                best = (violation, r, a)
    return None if best is None else best[1:]


def _score_division(node: Node, point: Floats | None, r: int, a: int) -> Division:
    """How many of one role are in a's set: of the role that weighs most once it has to be there."""
    count = node.rounds[r].score.count  # type: ignore[union-attr]
    pool = node.pool(r) - {a}
    inside, outside = node.sets.get((r, a), (frozenset(), frozenset()))
    open_ = [[j for j in role if j in pool and j not in inside and j not in outside] for role in node.roles]
    open_ = [group for group in open_ if group]
    left, total = count - len(inside), sum(map(len, open_))

    def weight(group: list[int]) -> tuple[bool, float]:
        forced = left > total - len(group)
        return forced, 0.0 if point is None else float(point @ node.distance(node.layers, a, group[0]))

    group = max(open_, key=weight)
    old = {fact for fact in node.facts if fact[0] == "score" and fact[1:3] == (r, a)}
    cases = []
    for taken in range(max(0, left - (total - len(group))), min(left, len(group)) + 1):
        members, avoided = inside | set(group[:taken]), outside | set(group[taken:])
        fact = settled_score(r, a, members, avoided, pool, count)
        cases.append((fact, frozenset(node.facts - old | {fact})))
    return Division(("score", r, a, frozenset(group)), tuple(cases))


def settled_score(
    r: int, a: int, members: frozenset[int], avoided: frozenset[int], pool: frozenset[int], count: int
) -> Fact:
    """The fact about a's score; what is avoided need not be said once the set is known."""
    if len(members) < count and len(pool) - len(avoided) == count:
        members = pool - avoided
    return ("score", r, a, members, frozenset() if len(members) == count else avoided)


def _worst_row(node: Node, point: Floats | None) -> tuple[int, int] | None:
    """The undecided row whose free vector is farthest from what it should be; rows of lower layers first."""
    for layer, k in enumerate(node.recipe.mixing):
        best: tuple[float, int] | None = None
        for i in node.first:
            if (layer, i) in node.rows:
                continue
            if point is None:
                return layer, i
            members = [i, *node.nearest(point, layer, i, k - 1, range(node.n))]
            gap = node.space.square(node.vector(layer + 1, i) - node.mean(layer, members))
            distance = float(point @ gap) * (CHOSEN if i in node.selected else 1.0)
            if best is None or distance > best[0]:
                best = (distance, i)
        if best is not None:
            return layer, best[1]
    return None
