"""A recipe beside the code that it was traced from, on inputs that both can compute exactly.

Small whole numbers: their differences, squares and sums are exact in floats, so that code and recipe see the same
order. Where scores are equal, a selection may break the tie either way: there the output must be that of the recipe for
some small change of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.errors import RuleFault
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.recipe.rule import RecipeRule
from kappaguard.rules.recipe.trace.refusal import Untraceable

Floats = NDArray[np.float64]
SEED = 20231
GENERIC, EQUAL = 20, 10
"""Inputs per dimension, without and with many equal values."""
BRIEF = 4
"""The same for a rule that takes long, half as many with equal values."""
CHANGES = 60
"""Small changes that are tried where the tie was broken otherwise."""
SMALL = 1e-6
CLOSE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """How many inputs were compared, and on how many with ties no small change of the input explained the output."""

    inputs: int
    ties: int = 0
    unexplained: int = 0


def compared(
    recipe: Recipe, rule: Callable[[Any], Any], dimension: int | None = None, *, brief: bool = False, seed: int = SEED
) -> Comparison:
    """Compare a recipe with the code; ``Untraceable`` if they differ on an input without ties."""
    mine = RecipeRule(recipe)
    inputs = ties = unexplained = 0
    for x, tied in inputs_for(recipe.n, dimension, brief=brief, seed=seed):
        theirs = _output(rule, x)
        inputs += 1
        if _close(theirs, mine(x), x):
            continue
        if not tied:
            raise Untraceable(
                f"its output differs from that of the recipe traced from it, on input {inputs} of the comparison",
                "a rule that looks at types, dtypes or the number of its calls cannot be traced",
            )
        ties += 1
        unexplained += not _explained(mine, theirs, x)
    return Comparison(inputs, ties, unexplained)


def inputs_for(
    n: int, dimension: int | None, *, brief: bool = False, seed: int = SEED
) -> Iterator[tuple[Floats, bool]]:
    """Inputs, and whether they have ties by design."""
    generator = np.random.default_rng(seed + n)
    generic, equal = (BRIEF, BRIEF // 2) if brief else (GENERIC, EQUAL)
    for d in (1, 2, 3, n + 1) if dimension is None else (dimension,):
        for place in range(generic):
            x = generator.integers(-1000, 1001, (n, d)).astype(float)
            if place % 2:
                # a cluster, and some far away
                x[generator.permutation(n)[: n // 3]] += generator.integers(-5, 6) * 1000.0
            yield x, False
        for _ in range(equal):
            yield generator.integers(0, 3, (n, d)).astype(float), True


def _output(rule: Callable[[Any], Any], x: Floats) -> Floats:
    try:
        return np.asarray(rule(x.copy()), dtype=np.float64)
    except RuleFault as fault:
        raise Untraceable(f"on numbers it {fault.detail}, and on symbols it does not") from None


def _close(theirs: Floats, ours: Floats, x: Floats, room: float = CLOSE) -> bool:
    return bool(np.max(np.abs(theirs - ours)) <= room * (1.0 + np.max(np.abs(x))))


def _explained(mine: RecipeRule, theirs: Floats, x: Floats) -> bool:
    generator = np.random.default_rng(SEED)
    ours = mine(x + SMALL * generator.standard_normal((CHANGES, *x.shape)))
    near = np.abs(ours - theirs) <= 100 * SMALL * (1.0 + np.max(np.abs(x)))
    # every coordinate breaks its own ties where the rule is coordinate-wise
    return bool(near.any(axis=0).all() if mine.given.coordinatewise else near.all(axis=1).any())
