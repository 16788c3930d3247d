"""What recipe an unknown rule may have, guessed from its outputs; then the worst inputs of that recipe.

On affinely independent inputs the output of a rule that selects tells how many vectors it averages. The recipes that
average as many are gone through, and those that give other outputs are left out: sums of distances to any number of
neighbours, the distance to the mean, subsets of least diameter or variance, after some vectors were dropped by one of
these scores, once or one at a time, and all behind nearest neighbour mixing. A rule that works coordinate by coordinate
tells its weights on sorted values on a line, by linear equations; values or vectors near a centre are tried one number
after the other.

A recipe that agrees on all inputs tried may still be another rule. That does not matter: its worst inputs are only
tried, as are those of the recipes that agree most often where none agrees always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kappaguard.rules.base.rule import Rule
from kappaguard.rules.recipe.recipe import (
    MeanDistance,
    NearCentre,
    NearestSum,
    NearVector,
    OrderStatistics,
    Recipe,
    Round,
    Rounds,
    Score,
    Subset,
)
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.weights import equal, median
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.structured import arrangements
from kappaguard.search.arena import Arena, Floats
from kappaguard.search.exact import centre, coordinates, variants
from kappaguard.search.exact.branch import TreeLimits

MOST_VECTORS = 24
ASKED = 30
"""Inputs on which a recipe has to agree."""
FIRST = 2
"""On so many of them all recipes are compared, on the others those that are left."""
PART = 0.2
"""Of the evaluations that are left, what guessing may take."""
NODES = (100, 500, 2500)
"""Of the trees, in turn; half as many evaluations is what they cost."""
SLOWER = 4
"""Behind mixing a node takes so many times as long."""
SHARE = 0.2
"""Of the seconds that are left, what one tree may take."""
AGREES = 1e-7
NEARLY = 3
"""The most recipes that are tried, whether they agree always or, if none does, mostly."""
SIMPLE = 20_000
"""The largest denominator of a weight that is guessed."""
LEAST_GAIN = 0.5


@dataclass(frozen=True)
class Guesses(Adversary):
    """Guesses once, then the worst inputs of one recipe a slice."""

    name = "guesses"

    def applies(self, arena: Arena) -> bool:
        """Rules whose recipe nobody knows, and vectors of enough dimensions."""
        known = isinstance(arena.rule, Rule) and arena.traits.symmetric
        wide = arena.dimension is None or arena.dimension >= arena.n - 1
        return 0 < arena.f < arena.n / 2 and arena.n <= MOST_VECTORS and wide and not known

    def run(self, arena: Arena, generator: np.random.Generator) -> Iterator[None]:
        """The recipes that are left, the simplest first; then with larger trees those whose tree did not close."""
        recipes = [*_by_coordinates(arena, generator), *_by_selection(arena, generator)]
        for nodes in NODES:
            opened = []
            for recipe in recipes:
                arena.spend(nodes // 2)
                inputs, finished = _worst(recipe, arena, nodes)
                for x in inputs:
                    for arrangement in (*arrangements(arena), tuple(np.roll(np.arange(arena.n), arena.f).tolist())):
                        arena.ratios(x[None], arrangement)
                opened += [] if finished else [recipe]
                yield
            recipes = opened


def _worst(recipe: Recipe, arena: Arena, nodes: int) -> tuple[Sequence[Floats], bool]:
    """Inputs that are bad for a recipe, and whether more nodes would find no worse ones."""
    f = arena.f
    if isinstance(recipe.choice, OrderStatistics | NearCentre):
        found: Any = coordinates.worst_inputs(recipe, f) if coordinates.applies(recipe, f) else ()
    elif isinstance(recipe.choice, NearVector):
        found = centre.worst_inputs(recipe, f) if centre.applies(recipe, f) else ()
    else:
        nodes = nodes // SLOWER if recipe.mixing else nodes
        return variants.within(recipe, f, TreeLimits(nodes, SHARE * (arena.budget - arena.seconds)))
    return [np.array([[float(value) for value in row] for row in rows]) for rows in found], True


def _affordable(arena: Arena, cost: int) -> bool:
    return cost <= PART * (arena.evaluations - arena.used)


def _agrees(output: Floats, expected: Floats) -> bool:
    return bool(np.all(np.abs(output - expected) <= AGREES * (1 + np.abs(expected).max())))


# --- selections


def _by_selection(arena: Arena, generator: np.random.Generator) -> list[Recipe]:
    """The recipes that agree on all inputs; if there is none, those that do so most often."""
    inputs = _inputs(generator, arena.n, arena.m)
    outputs = arena.outputs(inputs)
    if not np.all(np.isfinite(outputs)):
        return []
    system = [np.vstack([x.T, np.ones(arena.n)]) for x in inputs]
    weights = [np.linalg.lstsq(a, np.append(y, 1.0), rcond=1e-12)[0] for a, y in zip(system, outputs, strict=True)]
    sizes = {_selected(each) for each in weights}
    plain = sizes.pop() if len(sizes) == 1 else None
    families = list(_families(arena.n, arena.f, plain, ())) if plain else []
    layer = (arena.m,)
    if plain == arena.m:
        # one mixed vector is the mean of so many as well
        families += _families(arena.n, 0, 1, layer)
    if not plain:
        families = [each for size in range(1, arena.n + 1) for each in _families(arena.n, 0, size, layer)]
    if not _affordable(arena, FIRST * len(families)):
        return []
    arena.spend(FIRST * len(families))
    counts: dict[Recipe, int] = {}
    for recipe in families:
        rule = RecipeRule(recipe)
        counts[recipe] = sum(_agrees(rule(x), y) for x, y in zip(inputs[:FIRST], outputs[:FIRST], strict=True))
    best = max(counts.values(), default=0)
    left = [recipe for recipe, count in counts.items() if count == best > 0]
    if not left or not _affordable(arena, ASKED * len(left)):
        return left[:NEARLY]
    arena.spend(ASKED * len(left))
    for recipe in left:
        rule = RecipeRule(recipe)
        counts[recipe] += sum(_agrees(rule(x), y) for x, y in zip(inputs[FIRST:], outputs[FIRST:], strict=True))
    right = [recipe for recipe in left if counts[recipe] == len(inputs)]
    return right[:NEARLY] or sorted(left, key=lambda recipe: -counts[recipe])[:NEARLY]


def _inputs(generator: np.random.Generator, n: int, m: int) -> Floats:
    """Affinely independent ones of several shapes: alike, of many sizes, in two groups, with some far away."""
    x = generator.normal(size=(FIRST + ASKED, n, n - 1))
    sizes = np.exp(generator.normal(size=(len(x), n, 1)) * (np.arange(len(x)) % 4 == 1)[:, None, None])
    x *= sizes
    groups = (np.arange(len(x)) % 4 == 2)[:, None, None] * (generator.random((len(x), n, 1)) < 0.4)
    x += 3.0 * groups * generator.normal(size=(len(x), 1, n - 1))
    far = (np.arange(len(x)) % 4 == 3)[:, None, None] * (np.arange(n) >= m)[None, :, None]
    x += 4.0 * far * generator.normal(size=(len(x), 1, n - 1))
    for each in x:
        generator.shuffle(each)
    return np.asarray(x)


def _selected(weights: Floats) -> int | None:
    """How many vectors the output is the mean of; None if it is no such mean."""
    chosen = weights > LEAST_GAIN / len(weights)
    size = int(chosen.sum())
    return size if size and np.all(np.abs(weights - chosen / size) < 1e-6) else None


def _families(n: int, most_dropped: int, size: int, mixing: tuple[int, ...]) -> Iterator[Recipe]:
    """Recipes that average so many vectors, the simplest first."""
    for score in _scores(n):
        yield Recipe(n, Rounds((Round(score, size),)), mixing)
    if 1 < size < n:
        yield Recipe(n, Subset(size, "diameter"), mixing)
        yield Recipe(n, Subset(size, "variance"), mixing)
    if n - size > 1:
        for score in (MeanDistance(), NearestSum(max(1, size - 1))):
            one_by_one = (Round(score, 1, greatest=True, keep=False),) * (n - size)
            yield Recipe(n, Rounds(one_by_one), mixing)
    for dropped in range(1, min(most_dropped, n - size - 1) + 1):
        for first in _scores(n):
            for second in _scores(n - dropped):
                drop = Round(first, dropped, greatest=True, keep=False)
                yield Recipe(n, Rounds((drop, Round(second, size))), mixing)


def _scores(n: int) -> list[Score]:
    return [*(NearestSum(count) for count in range(1, n)), MeanDistance()]


# --- coordinate by coordinate


def _by_coordinates(arena: Arena, generator: np.random.Generator) -> list[Recipe]:
    """Weights on sorted values, values near a centre, vectors near a centre."""
    n = arena.n
    values = generator.normal(size=(2 * n + 4, n))
    # in three columns of which one matters, so that a rule by coordinates is told from one that is not
    inputs = np.stack([values, values[::-1], values**3], axis=2)
    outputs = arena.outputs(inputs)
    if not np.all(np.isfinite(outputs)):
        return []
    columns = np.concatenate([inputs[:, :, k] for k in range(3)])
    given = np.concatenate([outputs[:, k] for k in range(3)])
    found = np.linalg.lstsq(np.sort(columns, axis=1), given, rcond=None)[0]
    if np.abs(np.sort(columns, axis=1) @ found - given).max() <= AGREES * (1 + np.abs(given).max()):
        weights = [Fraction(value).limit_denominator(SIMPLE) for value in found.tolist()]
        return [Recipe(n, OrderStatistics(tuple(weights)))] if sum(weights) == 1 else []
    recipes: list[Recipe] = []
    for each in (median(n), equal(n, arena.f, n - arena.f), equal(n, 0, n)):
        recipes += [Recipe(n, NearCentre(each, count)) for count in range(1, n)]
        recipes += [Recipe(n, NearVector(each, count)) for count in range(1, n)]
    if not _affordable(arena, len(recipes)):
        return []
    arena.spend(len(recipes))
    return [
        recipe
        for recipe in recipes
        if all(_agrees(RecipeRule(recipe)(x), y) for x, y in zip(inputs[:ASKED], outputs[:ASKED], strict=True))
    ][:1]
