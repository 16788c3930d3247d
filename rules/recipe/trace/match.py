"""Code to recipe: run on symbols, and recognise what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.recipe.trace.columns import column_recipe
from kappaguard.rules.recipe.trace.expression import Expression, Symbols, lifted
from kappaguard.rules.recipe.trace.reading import Reader, Unmatched
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.rules.recipe.trace.run import outputs
from kappaguard.rules.recipe.trace.selection import selection_recipe

DIMENSION = 2
"""Of the vectors on which code is traced: enough to tell what mixes coordinates from what does not."""


def traced(call: Callable[[Any], Any], targets: list[Any], n: int) -> Recipe:
    """The recipe of a callable on (n, d) arrays; ``Untraceable`` if there is none.

    The code could ask for d: the comparison with its outputs in other dimensions speaks of that.
    """
    return traced_in(call, targets, n, DIMENSION)


def traced_in(call: Callable[[Any], Any], targets: list[Any], n: int, d: int) -> Recipe:
    """The recipe in one dimension."""
    symbols, found = outputs(call, targets, n, d)
    output = tuple(lifted(each, symbols) for each in found)
    if not all(isinstance(each, Expression) for each in output):
        raise Untraceable("the result is not a vector of finite numbers")
    reader = Reader(symbols, n, d)
    for look in (column_recipe, selection_recipe):
        try:
            return look(reader, output)
        except Unmatched:
            continue
        except RecursionError:
            raise Untraceable("values are computed from values hundreds of times over", "search only") from None
    raise _unknown(symbols)


NOTES = {
    "root": (
        "unsquared distances are added here: that is not linear in inner products",
        "square them, or search only",
    ),
    "quotient": (
        "something is divided here by a value that depends on the input: the output is not piecewise linear",
        "search only",
    ),
    "holds": (
        "a comparison decides here: how many are taken may depend on the input",
        "take a fixed number with sort, argsort or argpartition",
    ),
}


def _unknown(symbols: Symbols) -> Untraceable:
    """What is most likely the reason that nothing was recognised."""
    for what, (why, hint) in NOTES.items():
        if what in symbols.notes:
            return Untraceable(why, hint, *symbols.notes[what])
    return Untraceable(
        "what it computes was followed, and is no selection or coordinate-wise rule that is known",
        "docs/explanation/tracing.md has those that are",
    )
