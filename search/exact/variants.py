"""Worst inputs of selection rules that people write, from the programs of their recipes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from kappaguard.rules.recipe.recipe import NearestSum, Recipe, Round, Rounds, Subset
from kappaguard.search.exact.branch import Search, TreeLimits
from kappaguard.search.exact.known import known_inputs
from kappaguard.search.exact.ratio import ratio_of
from kappaguard.search.exact.space import Floats

MOST_VECTORS = 40
FEW_VECTORS = 20
"""Up to so many, subsets are looked at as well."""
SMALL = 12
NODES, MORE_NODES = 120, 500
"""Of the tree; for few vectors, more. Enough for all of these but multikrum with n < 3f."""
OTHERS = (1, 2, 0, 3)
"""n - f minus the number of others in Krum's scores: the paper's, Blanchard's and Flower's, and those next to them."""


def variants(n: int, f: int) -> Iterator[tuple[str, Recipe]]:
    """Krum with several numbers of neighbours, multikrum and mda."""
    if not 0 < 2 * f < n or n > MOST_VECTORS:
        return
    for fewer in OTHERS:
        count = n - f - fewer
        if 1 <= count < n:
            yield f"krum(neighbours={count})", Recipe(n, Rounds((Round(NearestSum(count), 1),)))
    if n > FEW_VECTORS:
        return
    yield "multikrum", Recipe(n, Rounds((Round(NearestSum(n - f - 1), n - f),)))
    yield "mda", Recipe(n, Subset(n - f, "diameter"))
    yield "mva", Recipe(n, Subset(n - f, "variance"))


@lru_cache(maxsize=512)
def worst_inputs(recipe: Recipe, f: int) -> tuple[Floats, ...]:
    """Inputs with about the largest ratio that the programs of a recipe lead to, the honest vectors first.

    The worst one lies on ties, which another implementation may decide otherwise; those further inside do not.
    """
    return within(recipe, f, TreeLimits(MORE_NODES if recipe.n <= SMALL else NODES))[0]


def within(recipe: Recipe, f: int, limits: TreeLimits) -> tuple[tuple[Floats, ...], bool]:
    """Such inputs as a search within limits finds, and whether it came to its end."""
    starts = [np.array(x, dtype=float) for x, honest, _ in known_inputs(recipe.n, f) if honest[0] == 0]
    tree = Search(recipe, f, ratio_of(recipe, f), starts).run(limits)
    ranked = [x for _, x in sorted(tree.candidates, key=lambda each: -each[0])]
    places = sorted({0, len(ranked) // 2, len(ranked) - 1})
    return tuple(ranked[place] for place in places if ranked), tree.finished
