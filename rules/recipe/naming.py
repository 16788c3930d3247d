"""The built-in rule that a recipe is, if it is one."""

from __future__ import annotations

from collections.abc import Iterator

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.names import RULES, parse
from kappaguard.rules.recipe.recipe import NearestSum, Recipe, Rounds


def builtin(recipe: Recipe, f: int) -> Rule | None:
    """A rule of ours with this recipe at (n, f), the plainest name first; None if there is none."""
    layers = "nnm+" * len(recipe.mixing) if set(recipe.mixing) <= {recipe.n - f} else None
    if layers is None:
        return None
    for name in _names(recipe):
        try:
            rule = parse(layers + name, f)
            if rule.recipe(recipe.n) == recipe:
                return rule
        except InputError:
            continue
    return None


def _names(recipe: Recipe) -> Iterator[str]:
    yield from RULES
    match recipe.choice:
        case Rounds((only,)) if isinstance(only.score, NearestSum):
            yield f"krum(neighbours={only.score.count})"
            yield f"multikrum(select={only.count})"
            yield f"multikrum(select={only.count}, neighbours={only.score.count})"
