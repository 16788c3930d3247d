"""``kappaguard recipe``: what a rule does, as data."""

from __future__ import annotations

import typer

from kappaguard.cli.options import AsJson, Byzantine, RuleOrRecipe, TraceTimeout, Vectors


def recipe(
    rule: RuleOrRecipe,
    n: Vectors,
    f: Byzantine,
    timeout: TraceTimeout = None,
    as_json: AsJson = False,
) -> None:
    """What a rule forms, compares, selects and returns: all that exact kappa* needs to know about it."""
    from kappaguard.rules.base.checks import require_count
    from kappaguard.rules.base.errors import InputError
    from kappaguard.rules.base.rule import Rule
    from kappaguard.rules.names import is_code
    from kappaguard.rules.names import rule as rule_named
    from kappaguard.rules.recipe.text import describe, to_json

    require_count(n, 1, "recipe: n")
    require_count(f, 0, "recipe: f")
    if is_code(rule):
        typer.echo(_traced(rule, n, f, as_json, timeout))
        return
    built = rule_named(rule, f=f)
    found = built.recipe(n) if isinstance(built, Rule) else None
    if found is None:
        raise InputError(f"{rule} has no recipe: it is no selection, and not coordinate-wise")
    typer.echo(to_json(found) if as_json else "\n".join(describe(found)))


def _traced(rule: str, n: int, f: int, as_json: bool, timeout: float | None) -> str:
    """The recipe that is traced from code, in a process of its own."""
    from kappaguard.rules.recipe.naming import builtin
    from kappaguard.rules.recipe.text import describe, to_json
    from kappaguard.verify.process.tracing import limits_of, traced

    found = traced(rule, n, f, limits_of(timeout))
    if as_json:
        return to_json(found.recipe)
    known = builtin(found.recipe, f)
    lines = describe(found.recipe)
    if known is not None:
        lines.append(f"which is the recipe of {known.label}")
    if found.dimension is not None:
        lines.append(f"in dimension {found.dimension} only: in more dimensions the code does something else")
    seen = found.comparison
    lines.append(f"traced from {rule}; code and recipe agree on {seen.inputs} inputs, {seen.ties} of them by a tie")
    return "\n".join(lines)
