"""Branch and bound over the decisions of a recipe, best bound first.

A node is solved with cuts until none is violated. If its bound exceeds what an input reaches, it is divided; cases that
differ only by names of workers are solved once. What is not worth dividing further is a leaf: its bound is no larger
than the incumbent, or all its decisions are made, and then the bound is the exact worst ratio on its closed cell.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.search.exact.attain import inputs, towards_interior
from kappaguard.search.exact.cores import over_cores
from kappaguard.search.exact.divide import Division, divide, first_choices, lead
from kappaguard.search.exact.facts import Facts, canonical
from kappaguard.search.exact.node import Name, Node
from kappaguard.search.exact.program import NodeSolution, largest, polished
from kappaguard.search.exact.space import Floats

CUT_ROUNDS = 15
TOLERANCE = 2e-7
"""Relative: bounds this near to the incumbent are not divided any further."""
MANY = 60
CORNERS = 24
"""Of the simplices in inputs that are tried on the way."""
DECISIVE = 3
NEARLY = 1e-6
WEAK = 1e-11
"""A shake that must not change what the rule decides."""
MOST_CANDIDATES = 60
NEAR = 1e-7
"""An input that is this near to a bound, relatively, attains it."""
LEAD_NODES = 400
"""So many nodes may be spent on replacing Byzantine vectors of the output by one of them."""
LARGE = 200
"""After so many nodes a tree is worth several cores."""
TOGETHER = 32
"""So many nodes are solved at a time then, on however many cores: the tree is the same on every machine."""

Ratio = Callable[[Floats], float]
Item = tuple[float, int, int, int]


@dataclass
class Split:
    """A division of an entry: per case, the entry that stands for it and the renaming of workers that leads there."""

    division: Division
    children: list[tuple[int, list[int]]]


@dataclass
class TreeEntry:
    """A node of the tree with its own bound; ``splits`` are ways to divide it, each of which may bound it better."""

    facts: Facts
    bound: float = math.inf
    cuts: tuple[Name, ...] = ()
    splits: list[Split] = field(default_factory=list)


@dataclass
class Tree:
    """What the search knows: entries by number (the root is 0), the best input, and how it went."""

    recipe: Recipe
    f: int
    entries: list[TreeEntry]
    lower: float = 0.0
    candidates: list[tuple[float, Floats]] = field(default_factory=list)
    """Inputs about as bad as the worst: on a tie floats may deceive, and one a little inside is the better witness."""
    programs: int = 0
    finished: bool = False

    def values(self) -> list[float]:
        """Per entry the best bound: its own, or the largest of the children of its best split."""
        values = [math.inf] * len(self.entries)
        # a child has a larger number than its first parent, but a merged one may have a smaller one
        settled = [False] * len(self.entries)
        for start in range(len(self.entries)):
            stack = [start]
            while stack:
                index = stack[-1]
                entry = self.entries[index]
                missing = [c for split in entry.splits for c, _ in split.children if not settled[c]]
                if missing and not settled[index]:
                    stack += missing
                    continue
                stack.pop()
                divided = [max(values[c] for c, _ in split.children) for split in entry.splits if split.children]
                values[index] = min([entry.bound, *divided])
                settled[index] = True
        return values

    @property
    def best(self) -> Floats | None:
        """The worst input, as far as floats can tell."""
        return max(self.candidates, key=lambda each: each[0])[1] if self.candidates else None

    @property
    def upper(self) -> float:
        """The bound that the tree proves."""
        return self.values()[0]


@dataclass(frozen=True)
class NodeProgram:
    """What has to be solved at a node: the largest ratio under its facts, as far as it exceeds ``target``."""

    recipe: Recipe
    f: int
    facts: Facts
    bound: float
    cuts: tuple[Name, ...]
    target: float


@dataclass(frozen=True)
class NodeBound:
    """The bound of a node with the cuts that it needs, and where it is reached, if the point says anything."""

    bound: float
    cuts: tuple[Name, ...]
    point: Floats | None
    programs: int


def solve_node(asked: NodeProgram) -> NodeBound:
    """Programs with more and more cuts, until none is violated or the bound is below the target."""
    node = Node(asked.recipe, asked.f, asked.facts)
    if not np.abs(node.error).max() > 1e-12:
        return NodeBound(0.0, asked.cuts, None, 0)
    names = [*node.names(), *asked.cuts]
    cuts = list(asked.cuts)
    bound, point, programs = asked.bound, None, 0
    for _ in range(CUT_ROUNDS):
        solution = largest(node.space, node.error, node.variance, [node.form(name) for name in names], asked.target)
        programs += 1
        point = solution.point
        if solution.value == -math.inf:
            bound = min(bound, asked.target)
            break
        bound = min(bound, solution.value)
        if point is None or bound <= asked.target:
            break
        fresh = [name for name in node.cuts(point) if name not in names]
        if not fresh:
            break
        names += fresh
        cuts += fresh
    return NodeBound(bound, tuple(cuts), point, programs)


@dataclass(frozen=True)
class TreeLimits:
    """When to stop: processed nodes (the same on every machine) or seconds."""

    nodes: int = 1_000_000
    seconds: float = math.inf


class Search:
    """One run of branch and bound."""

    def __init__(
        self, recipe: Recipe, f: int, ratio: Ratio, inputs: Iterable[Floats] = (), seed: int = 0, goal: float = 0.0
    ) -> None:
        self.tree = Tree(recipe, f, [TreeEntry(frozenset())])
        self.ratio = ratio
        self.goal = goal
        self.generator = np.random.default_rng(seed)
        self.keys: dict[object, tuple[int, list[int]]] = {}
        self.counter = itertools.count()
        self.start = time.perf_counter()
        self.processed = 0
        for x in inputs:
            self.offer(x)

    @property
    def target(self) -> float:
        """Bounds up to here need no division: what an input reaches, or all that is to be proved."""
        return max(self.goal, self.tree.lower * (1 + TOLERANCE) + 1e-12)

    def offer(self, x: Floats) -> None:
        """An input that may be worse than the worst known."""
        value = self.ratio(x)
        if value >= self.tree.lower * (1 - NEARLY) and math.isfinite(value):
            # a tie that rounding decides is no worst case
            shaken = x + WEAK * np.abs(x).max() * self.generator.standard_normal(x.shape)
            value = min(value, self.ratio(shaken))
        self.tree.lower = max(self.tree.lower, value)
        if value > 0 and value >= self.tree.lower * (1 - NEARLY):
            kept = [each for each in self.tree.candidates if each[0] >= self.tree.lower * (1 - NEARLY)]
            self.tree.candidates = [*kept, (value, x)][-MOST_CANDIDATES:]

    def offer_all(self, tree: Tree) -> None:
        """The inputs that another search found."""
        for _, x in tree.candidates:
            self.offer(x)

    def run(self, limits: TreeLimits, report: Callable[[float, float, int], None] | None = None) -> Tree:
        """Divide until the bounds meet or a limit is reached; Ctrl-C ends it with the bracket so far."""
        heap: list[Item] = []
        self._push(heap, 0)
        try:
            while heap:
                if -heap[0][0] <= self.target:
                    break
                if self.processed >= limits.nodes or time.perf_counter() - self.start > limits.seconds:
                    return self.tree
                for index, solved in self._next(heap):
                    self._process(heap, index, solved)
                    if report is not None:
                        report(self.tree.lower, -heap[0][0] if heap else self.tree.lower, self.processed)
        except KeyboardInterrupt:
            return self.tree
        self.tree.finished = True
        self._polish()
        return self.tree

    def _polish(self) -> None:
        """The leaves that decide, solved precisely: a bound may have been too small by a solver's error."""
        if not 0 < self.tree.lower < math.inf:
            return
        leaves = [entry for entry in self.tree.entries if not entry.splits and math.isfinite(entry.bound)]
        for entry in sorted(leaves, key=lambda entry: -entry.bound)[:DECISIVE]:
            if entry.bound < self.tree.lower * (1 - 1e-5):
                return
            node = Node(self.tree.recipe, self.tree.f, entry.facts)
            point = self._solve(entry)
            if point is not None:
                self._attain(node, entry, point)

    def refine(self, index: int) -> bool:
        """Divide an entry whose bound no multipliers prove, as if it had none; whether that could be done."""
        entry = self.tree.entries[index]
        if entry.splits:
            entry.bound = math.inf
            return True
        node = Node(self.tree.recipe, self.tree.f, entry.facts)
        division = divide(node, None, 0.0)
        if division is None:
            return False
        heap: list[Item] = []
        self._divide(heap, entry, division)
        entry.bound = math.inf
        while heap and -heap[0][0] > self.target:
            self._process(heap, heapq.heappop(heap)[-1])
        return True

    def _push(self, heap: list[Item], index: int) -> None:
        entry = self.tree.entries[index]
        heapq.heappush(heap, (-entry.bound, -len(entry.facts), next(self.counter), index))

    def _next(self, heap: list[Item]) -> list[tuple[int, NodeBound | None]]:
        """The best node, or the best few of a large tree, solved at the same time."""
        if self.processed < LARGE:
            return [(heapq.heappop(heap)[-1], None)]
        chosen: list[int] = []
        while heap and len(chosen) < TOGETHER and -heap[0][0] > self.target:
            chosen.append(heapq.heappop(heap)[-1])
        asked = [self._asked(self.tree.entries[index]) for index in chosen]
        return list(zip(chosen, over_cores(solve_node, asked), strict=True))

    def _process(self, heap: list[Item], index: int, solved: NodeBound | None = None) -> bool:
        """Solve a node and divide it where that can help; false if it stays a leaf above the target."""
        entry = self.tree.entries[index]
        self.processed += 1
        node = Node(self.tree.recipe, self.tree.f, entry.facts)
        division = first_choices(node)
        if division is not None:
            self._divide(heap, entry, division)
            return True
        point = self._solve(entry) if solved is None else self._keep(entry, solved)
        if entry.bound <= self.target:
            return True
        if point is not None:
            self._try(node, point)
            if entry.bound <= self.target:
                return True
        leading = None if node.layers else lead(node)
        if leading is not None and self._lead(entry, leading):
            return True
        division = divide(node, point, entry.bound)
        if division is None and point is not None and math.isfinite(entry.bound):
            division = self._attain(node, entry, point)
        if division is None:
            return entry.bound <= self.target
        self._divide(heap, entry, division)
        return True

    def _lead(self, entry: TreeEntry, division: Division) -> bool:
        """Whether one Byzantine vector in place of several already proves the target."""
        heap: list[Item] = []
        self._divide(heap, entry, division)
        last = self.processed + LEAD_NODES
        while heap and -heap[0][0] > self.target:
            if self.processed > last or not self._process(heap, heapq.heappop(heap)[-1]):
                return False
        return True

    def _attain(self, node: Node, entry: TreeEntry, point: Floats) -> Division | None:
        """Inputs of a cell that has to be believed; if the rule does not reach its bound, what else it decides there.

        All decisions are made at the optimum, but others may tie with them: those that win just inside.
        """
        names = [*node.names(), *entry.cuts]
        forms = [node.form(name) for name in names]
        better = polished(node.space, node.error, node.variance, forms, NodeSolution(entry.bound, point)).point
        point = point if better is None else better
        for _ in range(CUT_ROUNDS):
            inside = towards_interior(node, names, point)
            fresh = [name for name in node.cuts(inside) if name not in names]
            if not fresh:
                break
            names += fresh
        for family in inputs(node, names, point):
            for x in family:
                self.offer(x)
            if self.tree.lower >= entry.bound * (1 - NEAR):
                return None
        return divide(node, inside, entry.bound)

    def _solve(self, entry: TreeEntry) -> Floats | None:
        return self._keep(entry, solve_node(self._asked(entry)))

    def _asked(self, entry: TreeEntry) -> NodeProgram:
        return NodeProgram(self.tree.recipe, self.tree.f, entry.facts, entry.bound, entry.cuts, self.target)

    def _keep(self, entry: TreeEntry, found: NodeBound) -> Floats | None:
        entry.bound, entry.cuts = found.bound, found.cuts
        self.tree.programs += found.programs
        return found.point

    def _try(self, node: Node, point: Floats) -> None:
        """Inputs near a point of the program: as it is, and shaken a little to decide ties."""
        if self.processed > (60 if node.n <= MANY else 4) and self.processed % 8:
            return
        x = node.space.realise(point, min(node.n, CORNERS))
        size = np.abs(x).max()
        if not size > 0 or not np.isfinite(size):
            return
        for shake in (0.0, 1e-9, 1e-7, 1e-5, 1e-3):
            self.offer(x + shake * size * self.generator.standard_normal(x.shape))

    def _divide(self, heap: list[Item], entry: TreeEntry, division: Division) -> None:
        split = Split(division, [])
        entry.splits.append(split)
        tree = self.tree
        n = tree.recipe.n
        for _, facts in division.cases:
            # among many workers, telling cases apart costs more than solving one twice
            key, renaming = canonical(facts, n, n - tree.f) if n <= MANY else (facts, list(range(n)))
            if key not in self.keys:
                tree.entries.append(TreeEntry(facts, entry.bound, entry.cuts))
                self.keys[key] = (len(tree.entries) - 1, renaming)
                self._push(heap, len(tree.entries) - 1)
                split.children.append((len(tree.entries) - 1, list(range(n))))
                continue
            owner, other = self.keys[key]
            back = [0] * n
            for i, place in enumerate(other):
                back[place] = i
            split.children.append((owner, [back[place] for place in renaming]))
