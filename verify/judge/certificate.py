"""The certificate of a recipe as a file: a tree of decisions, with rational multipliers at its leaves.

    {"schema": "kappaguard-certificate/2", "rule": "krum", "criterion": "trace", "f": 1, "upper": "25/9",
     "recipe": {...}, "origin": null, "nodes": [
       {"facts": [], "split": ["pick", 0], "cases": [[1, ["pick", 0, "0"], null], ...]},
       {"facts": [["pick", 0, "0"]], "multipliers": [[["left", 0, 1, "0,2-4"], "3/8"], ...]}, ...]}

Node 0 is the root and has no facts. A case is the number of the node it follows from, its new fact, and, where that
node speaks of other workers, their names there. Sets of workers are written as ranges. ``origin`` says where the
recipe came from if it was traced; it is not part of what is proved. Of a coordinate-wise recipe the nodes are cells
without order, see ``coordinates``; of the vectors near a centre see ``centre``.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.recipe.recipe import NearVector, Pieces, Recipe
from kappaguard.rules.recipe.text import from_data
from kappaguard.verify.judge.cases import covered
from kappaguard.verify.judge.centre import check_centre
from kappaguard.verify.judge.coordinates import check_cells
from kappaguard.verify.judge.inequalities import Proof
from kappaguard.verify.judge.numbers import number
from kappaguard.verify.judge.pieces import check_pieces
from kappaguard.verify.judge.rejected import Rejected, demand
from kappaguard.verify.judge.situation import SHAPES, Fact, Situation, renamed

SCHEMA = "kappaguard-certificate/2"
MOST_NODES = 1_000_000
MOST_WORKERS = 20_000
_RANGES = re.compile(r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", re.ASCII)
NAMES = {
    "row": "lwww",
    "reach": "lws",
    "drift": "lws",
    "drifts": "lss",
    "directed": "lss",
    "gap": "lwws",
    "taken": "lwo",
    "left": "lwo",
    "within": "ww",
    "apart": "ww",
    "subset": "s",
}
"""The parts of a name: a place (l), workers (w), sets (s), a set or nothing (o)."""
SPLITS = {"pivot": "", "pick": "l", "subset": "", "row": "lw", "score": "lws", "pairs": "s", "lead": "s"}


def check_tree(data: dict[str, Any]) -> tuple[Recipe, int, Fraction, int]:
    """Recipe, f, the bound that is proved and the number of leaves; ``Rejected`` if nothing is."""
    keys = {"schema", "rule", "criterion", "f", "upper", "recipe", "origin", "nodes"}
    demand(set(data) == keys, f"the keys must be {sorted(keys)}")
    demand(data["criterion"] == "trace", "only the criterion trace is certified")
    demand(isinstance(data["rule"], str), "rule is not a text")
    try:
        recipe = from_data(data["recipe"])
    except InputError as error:
        raise Rejected(f"the recipe: {error}") from None
    f, upper = data["f"], number(data["upper"])
    demand(type(f) is int and 0 <= 2 * f < recipe.n <= MOST_WORKERS, "n and f are out of range")
    demand(upper >= 0, "upper is negative")
    if isinstance(recipe.choice, Pieces):
        return recipe, f, upper, check_pieces(recipe, f, upper, data["nodes"])
    if recipe.coordinatewise:
        return recipe, f, upper, check_cells(recipe, f, upper, data["nodes"])
    if isinstance(recipe.choice, NearVector):
        return recipe, f, upper, check_centre(recipe, f, upper, data["nodes"])
    nodes = data["nodes"]
    demand(isinstance(nodes, list) and 0 < len(nodes) <= MOST_NODES, "nodes is not a list")
    facts = [_facts(node, recipe.n) for node in nodes]
    demand(not facts[0], "the root has facts")
    _demand_order(nodes)
    leaves = 0
    for index, node in enumerate(nodes):
        situation = Situation(recipe, f, facts[index])
        try:
            if "multipliers" in node:
                leaves += 1
                _leaf(situation, upper, node)
            else:
                _division(situation, facts, node)
        except Rejected as fault:
            raise Rejected(f"node {index}: {fault}") from None
    return recipe, f, upper, leaves


def _leaf(situation: Situation, upper: Fraction, node: dict[str, Any]) -> None:
    demand(set(node) == {"facts", "multipliers"}, "a leaf has facts and multipliers")
    demand(isinstance(node["multipliers"], list), "multipliers is not a list")
    proof = Proof(situation, upper)
    for item in node["multipliers"]:
        demand(isinstance(item, list) and len(item) == 2, "a multiplier is a name and a number")
        proof.subtract(_tuple(item[0], NAMES, situation.n), number(item[1]))
    demand(proof.finish(), "the form is negative somewhere")


def _division(situation: Situation, facts: list[frozenset[Fact]], node: dict[str, Any]) -> None:
    demand(set(node) == {"facts", "split", "cases"}, "a node has multipliers, or a split and its cases")
    split = _tuple(node["split"], SPLITS, situation.n)
    given = [_fact(case[1], situation.n) for case in node["cases"]]
    for (target, _, names), case in zip(node["cases"], covered(situation, split, given), strict=True):
        permutation = {} if names is None else _permutation(names, situation.n, situation.m)
        there = case if names is None else frozenset(renamed(fact, permutation) for fact in case)
        demand(facts[target] <= there, f"a case does not follow from node {target}")


def _demand_order(nodes: list[Any]) -> None:
    """No node may rest on itself: along the edges there is an order."""
    waiting = [0] * len(nodes)
    edges: list[list[int]] = []
    for node in nodes:
        cases = node.get("cases", [])
        demand(isinstance(cases, list), "cases is not a list")
        for case in cases:
            demand(isinstance(case, list) and len(case) == 3, "a case is a node, a fact and names")
            demand(type(case[0]) is int and 0 <= case[0] < len(nodes), "a case follows from no node")
        edges.append([case[0] for case in cases])
        for target in edges[-1]:
            waiting[target] += 1
    free = [index for index, count in enumerate(waiting) if not count]
    seen = 0
    while free:
        seen += 1
        for target in edges[free.pop()]:
            waiting[target] -= 1
            if not waiting[target]:
                free.append(target)
    demand(seen == len(nodes), "the nodes rest on each other in a circle")


def _facts(node: Any, n: int) -> frozenset[Fact]:
    demand(isinstance(node, dict) and isinstance(node.get("facts"), list), "a node has facts")
    facts = [_fact(fact, n) for fact in node["facts"]]
    demand(len(set(facts)) == len(facts), "a fact comes twice")
    return frozenset(facts)


def _fact(data: Any, n: int) -> Fact:
    return _tuple(data, {kind: "l" + shape for kind, shape in SHAPES.items()}, n)


def _tuple(data: Any, shapes: dict[str, str], n: int) -> tuple[Any, ...]:
    """A kind and its parts, of the shape that belongs to it."""
    demand(isinstance(data, list) and bool(data) and isinstance(data[0], str), "not a list that begins with a kind")
    shape = shapes.get(data[0])
    demand(
        shape is not None and len(data) == len(shape) + 1, f"not a known kind, or of another length: {str(data)[:60]}"
    )
    parts: list[Any] = [data[0]]
    for letter, part in zip(shape or "", data[1:], strict=True):
        if letter in "lw":
            demand(type(part) is int and 0 <= part < n, "not a worker or a place")
            parts.append(part)
        else:
            parts.append(None if part is None and letter == "o" else _set(part, n))
    return tuple(parts)


def _set(text: Any, n: int) -> frozenset[int]:
    demand(isinstance(text, str) and (text == "" or _RANGES.fullmatch(text) is not None), "not a set of workers")
    members: list[int] = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        demand(int(first) < n and int(last or first) < n, "a worker that is not there")
        members += range(int(first), int(last or first) + 1)
    demand(members == sorted(set(members)), "a set is not in order")
    return frozenset(members)


def _permutation(names: Any, n: int, m: int) -> dict[int, int]:
    demand(isinstance(names, list) and len(names) == n, "names are not of all workers")
    demand(all(type(name) is int for name in names) and sorted(names) == list(range(n)), "names are no permutation")
    demand(all((i < m) == (name < m) for i, name in enumerate(names)), "an honest worker takes the place of another")
    return dict(enumerate(names))
