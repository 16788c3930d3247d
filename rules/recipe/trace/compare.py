"""A recipe beside the code that it was traced from, on inputs that both can compute exactly.

Multiples of 1/1024: their differences, squares and sums are exact in floats, so that code and recipe see the same
order. The code gets another seed for every input. Where scores are equal, a selection may break the tie either way:
there the output must be that of the recipe with its ties broken in another way, or for some small change of the input,
or for a subset that is as tight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import RuleFault
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.single_object import reseeded
from kappaguard.rules.recipe.recipe import Recipe, Subset
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.rules.recipe.trace.ties import explained_by_ties

Floats = NDArray[np.float64]
SEED = 20231
GENERIC, EQUAL = 8, 5
"""Inputs per dimension, without and with many equal values."""
BRIEF = 1
"""The same for a rule that takes long: in all dimensions too, so that a busy machine sees what an idle one does."""
FEW = 2
"""Inputs per large dimension."""
LARGE = (17, 33, 65, 130, 1030)
"""Dimensions beyond which blocks, sketches and layers would be seen."""
CHANGES = 400
"""Small changes that are tried where a tie was broken otherwise."""
MANY_COLUMNS, FEWER = 40, 30
"""More columns have fewer such changes."""
FINE = 1024
MOST_SUBSETS = 20_000
SMALL = 1e-6
CLOSE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """How many inputs were compared, and on how many the code broke a tie otherwise than the recipe."""

    inputs: int
    ties: int = 0


def compared(
    recipe: Recipe, rule: Callable[[Any], Any], dimension: int | None = None, *, brief: bool = False, seed: int = SEED
) -> Comparison:
    """Compare a recipe with the code; ``Untraceable`` if they differ on an input, and no tie explains it."""
    mine = RecipeRule(recipe)
    inputs = ties = 0
    for x, tied in inputs_for(recipe.n, dimension, brief=brief, seed=seed, few_ties=bool(recipe.mixing)):
        theirs = _output(_with_seed(rule, inputs), x)
        inputs += 1
        if _close(theirs, mine(x), x):
            continue
        room = CLOSE * (1.0 + float(np.max(np.abs(x))))
        if explained_by_ties(recipe, theirs, x, room) or _as_tight(recipe, theirs, x) or _explained(mine, theirs, x):
            ties += 1
            continue
        raise Untraceable(
            f"its output differs from that of the recipe traced from it, in dimension {x.shape[1]}, "
            f"on input {inputs} of the comparison{', which has ties' if tied else ''}",
            "the code may look at types, dimensions, equal values or random numbers, or change its input",
        )
    return Comparison(inputs, ties)


def _with_seed(rule: Callable[[Any], Any], seed: int) -> Callable[[Any], Any]:
    return reseeded(rule, rule.seed + seed) if isinstance(rule, Adapted) else rule


def inputs_for(
    n: int, dimension: int | None, *, brief: bool = False, seed: int = SEED, few_ties: bool = False
) -> Iterator[tuple[Floats, bool]]:
    """Inputs, and whether they have ties by design; behind mixing fewer, as a tie there has many outcomes."""
    generator = np.random.default_rng(seed + n)
    generic, equal = (BRIEF, BRIEF) if brief else (GENERIC, EQUAL)
    for d in sorted({1, 2, 3, 4, 5, 8, n, n + 1}) if dimension is None else [dimension]:
        for place in range(generic):
            yield _generic(generator, n, d, place), False
        for _ in range(equal):
            yield generator.integers(0, 12 if few_ties else 3, (n, d)).astype(float), True
    for d in LARGE if dimension is None else ():
        for place in range(1 if brief else FEW):
            yield _generic(generator, n, d, place), False


def _generic(generator: np.random.Generator, n: int, d: int, place: int) -> Floats:
    """Different multiples of 1/1024 in every column; every second time with some workers far away."""
    places = generator.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    x = places * 8.0 - 4 * n + generator.integers(0, 8 * FINE, (n, d)) / FINE
    if place % 2:
        x[generator.permutation(n)[: n // 3]] += generator.integers(-5, 6) * 10_000.0
    return x


def _output(rule: Callable[[Any], Any], x: Floats) -> Floats:
    try:
        return np.asarray(rule(x.copy()), dtype=np.float64)
    except RuleFault as fault:
        raise Untraceable(f"on numbers it {fault.detail}, and on symbols it does not") from None


def _close(theirs: Floats, ours: Floats, x: Floats, room: float = CLOSE) -> bool:
    return bool(np.max(np.abs(theirs - ours)) <= room * (1.0 + np.max(np.abs(x))))


def _explained(mine: RecipeRule, theirs: Floats, x: Floats) -> bool:
    """Whether the recipe returns this for some small change of the input."""
    room = 100 * SMALL * (1.0 + np.max(np.abs(x)))
    if mine.given.coordinatewise and not mine.given.mixing:
        # every coordinate breaks its own ties
        apart = np.abs(mine(x) - theirs) > CLOSE
        x, theirs = x[:, apart], theirs[apart]
    count = CHANGES if x.shape[1] <= MANY_COLUMNS else FEWER
    ours = mine(x + SMALL * np.random.default_rng(SEED).standard_normal((count, *x.shape)))
    near = np.abs(ours - theirs) <= room
    return bool(near.any(axis=0).all() if mine.given.coordinatewise else near.all(axis=1).any())


def _as_tight(recipe: Recipe, theirs: Floats, x: Floats) -> bool:
    """Whether the output is the mean of another subset with the least diameter: many share one."""
    choice = recipe.choice
    if recipe.mixing or not isinstance(choice, Subset) or comb(recipe.n, choice.size) > MOST_SUBSETS:
        return False
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=-1)
    subsets = list(combinations(range(recipe.n), choice.size))
    sizes = np.array([squares[np.ix_(each, each)].max() for each in subsets])
    tight = [each for each, size in zip(subsets, sizes, strict=True) if size <= sizes.min()]
    return choice.measure == "diameter" and any(_close(theirs, x[list(each)].mean(axis=0), x) for each in tight)
