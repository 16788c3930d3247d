"""Exact kappa* of somebody else's code: its recipe is traced, compared with it, and handed to the engine.

What is proved is about the recipe, in exact arithmetic. The scope says so, and what was assumed and what was shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.recipe.naming import builtin
from kappaguard.rules.recipe.text import describe, from_data, to_data
from kappaguard.rules.recipe.trace.code import TracedCode, trace
from kappaguard.rules.recipe.trace.compare import LARGE, Comparison
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.exact import Progress, exact
from kappaguard.verify.judge.result import KappaResult


def trace_here(rule: str | Callable[..., Any], n: int, f: int) -> TracedCode:
    """The recipe of a rule that is code, traced in this process."""
    adapted = rule_named(rule, f=f)
    if not isinstance(adapted, Adapted):
        raise InputError(f"{str(rule)[:80]} is no rule: nothing can be traced")
    return trace(adapted, n)


def exact_of(traced: TracedCode, f: int, *, progress: Progress | None = None, nodes: int | None = None) -> KappaResult:
    """Bounds on kappa* of the recipe that was traced, under the name of the code.

    Where the recipe holds on a line only, so does the upper bound: it is not told, and the scope says what it is.
    """
    recipe = traced.recipe
    known = builtin(recipe, f)
    found = exact(recipe if known is None else known, recipe.n, f, progress=progress, nodes=nodes)
    scope = scope_of(traced, found, known.label if known is not None else None)
    if traced.dimension is not None:
        return replace(found, rule=traced.rule, upper=None, certificate=None, proof=None, scope=scope)
    text = found.certificate
    if text is not None and json.loads(text).get("recipe") == to_data(recipe):
        text = json.dumps(json.loads(text) | {"rule": traced.rule, "origin": traced.origin})
        # under another name it is another file: judged again
        check(text)
    return replace(found, rule=traced.rule, certificate=text, scope=scope)


def scope_of(traced: TracedCode, found: KappaResult, name: str | None) -> str:
    """What a bound on kappa* of traced code is about."""
    what = f"the recipe traced from {traced.rule}" + (f", which is that of {name}" if name else "")
    where = "all d" if traced.dimension is None else f"d = {traced.dimension}"
    seen = traced.comparison
    compared_in = f" in up to {LARGE[-1]:,} dimensions" if traced.dimension is None else ""
    if traced.dimension is not None and found.upper is not None:
        where += f" (there kappa* <= {float(found.upper):.7g}; in more dimensions the code does something else)"
    return (
        f"{what}, exact arithmetic, {where}; shown on the trace: symmetry in the workers, translation and scale; "
        f"code and recipe agree on {seen.inputs} inputs{compared_in}; rounding of floats is not covered"
    )


def said(traced: TracedCode, f: int) -> str:
    """What code does, in a line: the name of a rule of ours if it has its recipe, else the recipe in words."""
    known = builtin(traced.recipe, f)
    name = known.label if known is not None else "; ".join(describe(traced.recipe)[1:])
    where = "" if traced.dimension is None else f" in dimension {traced.dimension}"
    return f"traced: {name}{where}"


def to_text(traced: TracedCode) -> str:
    """As JSON, for another process."""
    seen = traced.comparison
    data = {"recipe": to_data(traced.recipe), "rule": traced.rule, "sha256": traced.sha256}
    return json.dumps(data | {"seen": [seen.inputs, seen.ties], "dimension": traced.dimension})


def from_text(text: str, rule: str, n: int) -> TracedCode:
    """What ``to_text`` wrote about a rule at n; InputError if it is something else."""
    try:
        data = json.loads(text)
        if "refused" in data:
            raise Untraceable(*(str(each)[:1000] for each in data["refused"]))
        recipe = from_data(data["recipe"])
        seen = Comparison(*(int(each) for each in data["seen"]))
        dimension = None if data["dimension"] is None else int(data["dimension"])
        found = TracedCode(recipe, rule, str(data["sha256"])[:64], seen, dimension)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, Untraceable):
            raise
        raise InputError(f"the process of the rule left no recipe: {type(error).__name__}") from None
    if recipe.n != n:
        raise InputError(f"the process of the rule left a recipe for n = {recipe.n}")
    return found


def refused_text(refused: Untraceable) -> str:
    """A refusal as JSON, for another process."""
    return json.dumps({"refused": [refused.why, refused.hint, refused.place, refused.line]})
