"""``kappaguard recipe``: what a rule does, as data."""

from __future__ import annotations

from typing import Annotated

import typer


def recipe(
    rule: Annotated[
        str, typer.Argument(metavar="RULE", help="A built-in rule, nnm in front of one, or a recipe as a JSON file.")
    ],
    n: Annotated[int, typer.Option("-n", help="The number of vectors.", show_default=False)],
    f: Annotated[int, typer.Option("-f", help="The number of Byzantine ones.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print the recipe as JSON.")] = False,
) -> None:
    """What a rule forms, compares, selects and returns: all that exact kappa* needs to know about it."""
    from kappaguard.rules.base import Rule
    from kappaguard.rules.checks import require_count
    from kappaguard.rules.errors import InputError
    from kappaguard.rules.names import rule as rule_named
    from kappaguard.rules.recipe.text import describe, to_json

    require_count(n, 1, "recipe: n")
    require_count(f, 0, "recipe: f")
    built = rule_named(rule, f=f)
    found = built.recipe(n) if isinstance(built, Rule) else None
    if found is None:
        raise InputError(f"{rule} has no recipe: rules that iterate, and code of one's own, have none yet")
    typer.echo(to_json(found) if as_json else "\n".join(describe(found)))
