"""Facts: what is known about the decisions of a recipe at a node of the search.

A fact is a tuple: its kind, a number that says where (a round or a layer), then workers and sets of workers.

    ("pivot", 0, i)            the recipe's pivot is worker i
    ("pick", r, W)             W leaves the pool in round r
    ("subset", 0, W)           W is the subset with the least diameter or variance
    ("row", l, i, N)           N are the vectors of layer l that are nearest to the i-th one
    ("score", r, a, I, O)      some set that makes up a's score in round r contains I and avoids O
    ("pair", 0, {p, q})        p and q are at least as far apart as any two of the selected subset
    ("lead", 0, O, a)          the error does not shrink if every vector of O in the output is replaced by a's

The first n - f workers are honest. Two workers have the same role if exchanging them leaves the facts alone; then it
leaves everything alone that can be said about the node, and every program can be averaged over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Fact = tuple[Any, ...]
Facts = frozenset[Fact]
Permutation = Sequence[int]


def permuted(fact: Fact, permutation: Permutation) -> Fact:
    """The fact about other workers: i is called permutation[i]."""
    return fact[:2] + tuple(
        frozenset([permutation[j] for j in part]) if isinstance(part, frozenset) else permutation[part]
        for part in fact[2:]
    )


def roles_of(facts: Iterable[Fact], n: int, honest: int) -> list[list[int]]:
    """The classes of workers that can be exchanged, each in increasing order, honest ones first."""
    known = set(facts)
    named = {part for fact in known for part in fact[2:] if not isinstance(part, frozenset)}
    sets = [part for fact in known for part in fact[2:] if isinstance(part, frozenset)]
    groups: dict[Any, list[int]] = {}
    for i in range(n):
        groups.setdefault(
            (i >= honest, i in named, tuple([i in part for part in sets]) if i not in named else 0), []
        ).append(i)
    roles: list[list[int]] = []
    for (_, single, _), members in groups.items():
        if not single:
            roles.append(members)
            continue
        found: list[list[int]] = []
        for i in members:
            for role in found:
                if _are_twins(known, role[0], i):
                    role.append(i)
                    break
            else:
                found.append([i])
        roles += found
    return sorted(roles)


def _are_twins(facts: set[Fact], i: int, j: int) -> bool:
    swap = _Swap(i, j)
    return all(permuted(fact, swap) in facts for fact in facts)  # type: ignore[arg-type]


class _Swap:
    """The exchange of two workers."""

    def __init__(self, i: int, j: int) -> None:
        self.i, self.j = i, j

    def __getitem__(self, k: int) -> int:
        return self.j if k == self.i else self.i if k == self.j else k


def canonical(facts: Facts, n: int, honest: int) -> tuple[Any, list[int]]:
    """A key that is equal for facts that differ only by the names of workers, and the renaming that leads to it.

    Workers are coloured by what the facts say about them until the colours are stable; where one colour has several
    roles, each of them is tried as the first.
    """
    roles = roles_of(facts, n, honest)
    role_of = {i: index for index, role in enumerate(roles) for i in role}
    ordered = sorted(facts, key=lambda fact: fact[:2])
    best: list[Any] = [None, None]

    def explore(colours: list[int]) -> None:
        colours = _refine(colours, ordered, n)
        cells: dict[int, list[int]] = {}
        for i, colour in enumerate(colours):
            cells.setdefault(colour, []).append(i)
        for colour in sorted(cells):
            several = {role_of[i] for i in cells[colour]}
            if len(several) > 1:
                for role in sorted(several):
                    chosen = set(roles[role])
                    explore([2 * c - (i in chosen) for i, c in enumerate(colours)])
                return
        order = sorted(range(n), key=lambda i: (colours[i], i))
        renaming = [0] * n
        for place, i in enumerate(order):
            renaming[i] = place
        key = tuple(sorted(_key(permuted(fact, renaming)) for fact in facts))
        if best[0] is None or key < best[0]:
            best[:] = [key, renaming]

    explore([int(i >= honest) for i in range(n)])
    return best[0], best[1]


def _key(fact: Fact) -> tuple[Any, ...]:
    return tuple(
        tuple(sorted(part)) if isinstance(part, frozenset) else part if isinstance(part, str) else (part,)
        for part in fact
    )


def _refine(colours: list[int], facts: list[Fact], n: int) -> list[int]:
    while True:
        signatures: list[list[Any]] = [[] for _ in range(n)]
        for fact in facts:
            parts = [
                (1, *sorted(colours[j] for j in part)) if isinstance(part, frozenset) else (0, colours[part])
                for part in fact[2:]
            ]
            summary = (fact[:2], tuple(parts))
            for place, part in enumerate(fact[2:]):
                for i in part if isinstance(part, frozenset) else (part,):
                    signatures[i].append((summary, place))
        full = [(colours[i], tuple(sorted(signatures[i]))) for i in range(n)]
        index = {signature: place for place, signature in enumerate(sorted(set(full)))}
        refined = [index[signature] for signature in full]
        if len(index) == len(set(colours)):
            return refined
        colours = refined
