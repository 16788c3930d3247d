"""From a finished tree to the text of a certificate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.text import to_data
from kappaguard.search.exact.branch import TOLERANCE, Tree, TreeEntry
from kappaguard.search.exact.cores import over_cores
from kappaguard.search.exact.leaves import Leaf, leaf_multipliers
from kappaguard.search.exact.node import Node

SCHEMA = "kappaguard-certificate/2"
ROOM = 1e-7
"""The certified bound exceeds the one of the programs by this much, relatively, so that there is something inside."""


MANY_LEAVES = 100
"""So many are worth several cores."""


def certify(
    tree: Tree, rule: str, kappa: Fraction, tight: bool = False, report: Callable[[int, int], None] | None = None
) -> str | list[int]:
    """The part of the tree that proves kappa, with multipliers at the leaves; or the leaves that have none.

    ``tight`` says that kappa may be attained, so that nothing is inside at some leaves.
    """
    values = tree.values()
    limit = float(kappa) * (1 + (2 * TOLERANCE if tight else 0.0))
    order: dict[int, int] = {0: 0}
    queue = [0]
    written: list[dict[str, Any]] = []
    leaves: dict[int, dict[str, Any]] = {}
    for index in queue:
        entry = tree.entries[index]
        node: dict[str, Any] = {"facts": [_plain(fact) for fact in sorted(entry.facts, key=_key)]}
        written.append(node)
        split = _useful(entry, values, limit)
        if split is None:
            if not Node(tree.recipe, tree.f, entry.facts).selected:
                return [index]
            leaves[index] = node
            continue
        cases = []
        for (fact, _), (child, names) in zip(split.division.cases, split.children, strict=True):
            if child not in order:
                order[child] = len(order)
                queue.append(child)
            same = names == list(range(tree.recipe.n))
            cases.append([order[child], _plain(fact), None if same else names])
        node |= {"split": _plain(split.division.name), "cases": cases}
    failed: list[int] = []
    entries = [tree.entries[index] for index in leaves]
    asked = [Leaf(tree.recipe, tree.f, entry.facts, entry.cuts, kappa, tight) for entry in entries]
    found = over_cores(leaf_multipliers, asked) if len(asked) > MANY_LEAVES else map(leaf_multipliers, asked)
    for done, ((index, node), each) in enumerate(zip(leaves.items(), found, strict=True), 1):
        if not each.depth > 0:
            failed.append(index)
            if tight:
                return failed
        node["multipliers"] = [[_plain(name), str(value)] for name, value in each.by_name.items()]
        if report is not None:
            report(done, len(leaves))
    if failed:
        return failed
    data = {"schema": SCHEMA, "rule": rule, "criterion": "trace", "f": tree.f, "upper": str(kappa)}
    data |= {"recipe": to_data(tree.recipe), "origin": None, "nodes": written}
    return json.dumps(data)


def _useful(entry: TreeEntry, values: list[float], limit: float) -> Any:
    """The split whose children all stay below the limit; None if the entry does so itself."""
    if entry.bound <= limit:
        return None
    for split in entry.splits:
        if all(values[child] <= limit for child, _ in split.children):
            return split
    return None


def _key(fact: tuple[Any, ...]) -> str:
    return str(_plain(fact))


def _plain(parts: Iterable[Any]) -> list[Any]:
    return [ranges(part) if isinstance(part, frozenset) else part for part in parts]


def ranges(members: Iterable[int]) -> str:
    """A set of workers as ranges: ``0-8,12``."""
    runs: list[list[int]] = []
    for i in sorted(members):
        if runs and runs[-1][1] == i - 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
