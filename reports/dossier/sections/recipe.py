"""What the rule does, as a recipe, and exact kappa* of that."""

from __future__ import annotations

from typing import Any

from kappaguard.reports.dossier.plan import Plan
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.recipe.text import describe
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.verify.guard.verdict import number
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.result import KappaResult
from kappaguard.verify.judge.traced import exact_of, said, trace_here

NODES = 300
"""Of the tree of decisions at one f."""


def compute(plan: Plan) -> dict[str, Any]:
    """The recipe in words, and bounds on its kappa* at every f up to the plan's; or why the code was not traced."""
    built = rule_named(plan.rule, f=plan.f)
    try:
        if isinstance(built, Rule):
            found = built.recipe(plan.n)
            if found is None:
                return {"refused": "it has no recipe: it is no selection, and not coordinate-wise"}
            name, lines, scope = built.label, describe(found), None
        else:
            traced = trace_here(plan.rule, plan.n, plan.f)
            name, lines = said(traced, plan.f), describe(traced.recipe)
            scope = exact_of(traced, plan.f, nodes=1).scope
    except Untraceable as refused:
        return {"refused": str(refused)}
    rows = [_row(f, plan) for f in range(1, plan.f + 1)]
    return {"name": name, "recipe": lines, "scope": scope, "rows": rows}


def _row(f: int, plan: Plan) -> dict[str, Any]:
    try:
        result = _bounds(plan, f)
    except InputError as refused:
        return {"f": f, "refused": str(refused)}
    return {
        "f": f,
        "lower": number(result.lower),
        "upper": number(result.upper),
        "status": result.status.value,
        "witness": plan.keep(result.witness),
    }


def _bounds(plan: Plan, f: int) -> KappaResult:
    if isinstance(rule_named(plan.rule, f=f), Rule):
        return exact(plan.rule, plan.n, f, nodes=NODES)
    return exact_of(trace_here(plan.rule, plan.n, f), f, nodes=NODES)
