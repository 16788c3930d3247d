"""Whether the cases of a disjunction cover every state of a node.

Cases are compared by how many workers of each role they name: by lemma 2 one case stands for all with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from kappaguard.rules.recipe.recipe import Subset
from kappaguard.verify.judge.rejected import demand
from kappaguard.verify.judge.situation import Fact, Situation


def covered(situation: Situation, split: tuple[Any, ...], given: list[Fact]) -> list[frozenset[Fact]]:
    """The facts of every case; ``Rejected`` unless the cases named are all that there can be."""
    match split:
        case ("pivot",):
            _pivot(situation, given)
        case ("pick", r):
            demand(isinstance(r, int) and 0 <= r < len(situation.rounds), "no such round")
            demand(r not in situation.picks and all(s in situation.picks for s in range(r)), "not the next round")
            _sets(situation.roles(), situation.pool(r), situation.rounds[r].count, _parts(given, "pick", r))
        case ("subset",):
            choice = situation.recipe.choice
            demand(isinstance(choice, Subset) and situation.subset is None, "no subset is open")
            size = choice.size if isinstance(choice, Subset) else 0
            _sets(situation.roles(), range(situation.n), size, _parts(given, "subset", 0))
        case ("row", layer, i):
            demand(layer in range(len(situation.recipe.mixing)) and i in range(situation.n), "no such row")
            demand((layer, i) not in situation.rows, "the row is decided")
            demand(all(fact[:3] == ("row", layer, i) and i in fact[3] for fact in given), "a case of another row")
            others = [fact[3] - {i} for fact in given]
            roles = situation.roles(i)
            _sets(roles, set(range(situation.n)) - {i}, situation.recipe.mixing[layer] - 1, others)
        case ("score", r, i, group):
            return _score(situation, r, i, group, given)
        case ("pairs", members):
            _pairs(situation, members, given)
        case ("lead", members):
            roles = situation.roles()
            demand(situation.lead is None and members <= situation.selected(), "a lead of workers not in the output")
            demand(any(members <= set(role) for role in roles) and bool(members), "a lead of several roles")
            demand(len(given) == 1 and given[0][:3] == ("lead", 0, members), "one case is needed")
        case _:
            demand(False, f"no disjunction is called {str(split)[:80]}")
    return [situation.facts | {fact} for fact in given]


def _parts(given: list[Fact], kind: str, place: int) -> list[frozenset[int]]:
    demand(all(fact[:2] == (kind, place) and len(fact) == 3 for fact in given), "a case of another kind")
    return [fact[2] for fact in given]


def _pivot(situation: Situation, given: list[Fact]) -> None:
    pivot = situation.recipe_pivot()
    demand(pivot is not None and not situation.facts, "no pivot is open")
    demand(all(fact[:2] == ("pivot", 0) and len(fact) == 3 for fact in given), "a case of another kind")
    named = {fact[2] < situation.m for fact in given}
    demand(True in named, "the pivot may be honest")
    trusted = situation.recipe.trusted == pivot
    demand(False in named or trusted or not situation.f, "the pivot may be Byzantine")


def _sets(roles: list[list[int]], pool: Iterable[int], size: int, given: list[frozenset[int]]) -> None:
    """Every way to take ``size`` workers of the pool, by numbers per role, is among the sets given."""
    allowed = frozenset(pool)
    groups = [frozenset(role) & allowed for role in roles]
    demand(all(members <= allowed and len(members) == size for members in given), "a set of another size or pool")
    found = {tuple(len(members & group) for group in groups) for members in given}
    ways = [1] + [0] * size
    for group in groups:
        ways = [sum(ways[left - taken] for taken in range(min(len(group), left) + 1)) for left in range(size + 1)]
    demand(len(found) == ways[size], f"{len(found)} of {ways[size]} cases are given")


def _score(situation: Situation, r: int, i: int, group: Any, given: list[Fact]) -> list[frozenset[Fact]]:
    """How many workers of a group of one role, open so far, are in the set that makes up a score."""
    demand(r in situation.picks and i in situation.pool(r), "no such score")
    count = situation.count(r)
    inside, outside = situation.scores.get((r, i), (frozenset(), frozenset()))
    others = situation.pool(r) - {i}
    open_ = others - inside - outside
    demand(bool(group) and group <= open_, "a group of workers that are not open")
    demand(any(group <= set(role) for role in situation.roles(i)), "a group of several roles")
    rest, left = len(open_) - len(group), count - len(inside)
    numbers = range(max(0, left - rest), min(left, len(group)) + 1)
    demand(len(given) == len(numbers), f"{len(given)} of {len(numbers)} cases are given")
    kept = frozenset(fact for fact in situation.facts if fact[:3] != ("score", r, i))
    cases = []
    for number, fact in zip(numbers, given, strict=True):
        taken = frozenset(sorted(group)[:number])
        now, never = inside | taken, outside | (group - taken)
        if len(others - never) == count:
            now = others - never
        if len(now) == count:
            never = frozenset()
        demand(fact == ("score", r, i, now, never), "a case is not what it should be")
        cases.append(kept | {fact})
    return cases


def _pairs(situation: Situation, members: frozenset[int], given: list[Fact]) -> None:
    """Of the pairs of a set as large as the selected one, one is at least as far apart as the diameter of that."""
    choice = situation.recipe.choice
    demand(isinstance(choice, Subset) and choice.measure == "diameter", "the recipe compares no diameters")
    demand(situation.subset is not None and len(members) == len(situation.subset), "a set of another size")
    pairs = _parts(given, "pair", 0)
    demand(all(pair <= members and len(pair) == 2 for pair in pairs), "a pair from outside the set")
    role_of = {i: index for index, role in enumerate(situation.roles(members)) for i in role}
    found = {tuple(sorted(role_of[i] for i in pair)) for pair in pairs}
    counts: dict[int, int] = {}
    for i in members:
        counts[role_of[i]] = counts.get(role_of[i], 0) + 1
    needed = {(a, b) for a, b in combinations(sorted(counts), 2)} | {(a, a) for a, size in counts.items() if size > 1}
    demand(needed <= found, f"{len(needed - found)} kinds of pairs are missing")
