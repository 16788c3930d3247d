"""Are two rules the same function at (n, f)? Equal recipes say yes; else the smallest input that tells them apart.

Inputs are tried from small to large: zeros and ones on a line, small whole numbers on lines and planes, the worst
inputs of known rules, and numbers at random. Where scores are equal a rule may break the tie either way, so it is also
told whether the two still differ when the input is moved a little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError, RuleFault
from kappaguard.rules.base.rule import Rule
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.convert import as_numpy
from kappaguard.rules.names import RULES, parse
from kappaguard.rules.names import rule as rule_named
from kappaguard.rules.recipe.recipe import Recipe
from kappaguard.rules.recipe.trace.code import trace
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.search.exact.known import known_inputs
from kappaguard.verify.judge.exact import exact

Floats = NDArray[np.float64]
CLOSE = 1e-7
MOVES, MOVE = 20, 1e-5
SMALL, LARGE = 600, 1000
"""Inputs of small whole numbers per range and dimension, and inputs at random."""
FEW, MANY = 20, 1000
"""Inputs on which a rule is compared with all of ours, and with the one that is left."""


@dataclass(frozen=True)
class Same:
    """Two rules have one recipe: they are the same function."""

    recipe: Recipe
    inputs: int = 0
    verdict: ClassVar = "same"


@dataclass(frozen=True)
class Alike:
    """No input of those that were tried tells two rules apart; that is no proof."""

    inputs: int
    verdict: ClassVar = "alike"


@dataclass(frozen=True)
class Different:
    """The input x on which two rules differ, the last of so many that were tried, and both outputs.

    ``tie`` says that a small change of x makes them agree again.
    """

    inputs: int
    x: Floats
    left: Floats
    right: Floats
    tie: bool
    verdict: ClassVar = "different"


Comparison = Same | Alike | Different


def diff(left: str | Callable[..., Any], right: str | Callable[..., Any], n: int, f: int) -> Comparison:
    """Compare two rules at (n, f)."""
    rules = rule_named(left, f=f), rule_named(right, f=f)
    recipes = [_recipe(each, n) for each in rules]
    if recipes[0] is not None and recipes[0] == recipes[1]:
        return Same(recipes[0])
    count = 0
    for x in inputs_for(n, f, [each for each in recipes if each is not None]):
        count += 1
        outputs = [_output(each, x) for each in rules]
        if _differ(outputs[0], outputs[1], x):
            return Different(count, x, outputs[0], outputs[1], not _differ_nearby(rules, x))
    return Alike(count)


def _recipe(rule: Callable[..., Any], n: int) -> Recipe | None:
    if isinstance(rule, Rule):
        return rule.recipe(n)
    if not isinstance(rule, Adapted):
        raise InputError("a pre-aggregation is no rule: write what follows it")
    try:
        found = trace(rule, n)
    except Untraceable:
        return None
    return found.recipe if found.dimension is None else None


def inputs_for(n: int, f: int, recipes: list[Recipe]) -> Iterator[Floats]:
    """Inputs, the small ones first."""
    for ones in range(1, n // 2 + 1):
        for place, chosen in enumerate(combinations(range(n), ones)):
            if place == SMALL:
                break
            x = np.zeros((n, 1))
            x[list(chosen)] = 1.0
            yield x
    generator = np.random.default_rng(n)
    for d in (1, 2):
        for most in (2, 4, 10):
            for _ in range(SMALL):
                yield generator.integers(0, most + 1, (n, d)).astype(float)
    for rows, _, _ in known_inputs(n, f):
        yield np.array([[float(value) for value in row] for row in rows])
    for recipe in recipes:
        witness = exact(recipe, n, f, nodes=FEW).witness
        if witness is not None:
            yield np.array([[float(value) for value in row] for row in witness.x])
    for place in range(LARGE):
        yield generator.standard_normal((n, (1, 2, 3, n + 1)[place % 4]))


def _output(rule: Callable[..., Any], x: Floats) -> Floats:
    try:
        return np.asarray(as_numpy(rule(x.copy())), dtype=np.float64)
    except RuleFault:
        return np.full(x.shape[1:], np.nan)


def _differ(left: Floats, right: Floats, x: Floats, room: float = CLOSE) -> bool:
    if np.isnan(left).any() or np.isnan(right).any():
        return bool(np.isnan(left).any() != np.isnan(right).any())
    return bool(np.max(np.abs(left - right)) > room * (1.0 + np.max(np.abs(x))))


def _differ_nearby(rules: tuple[Any, Any], x: Floats) -> bool:
    generator = np.random.default_rng(0)
    for _ in range(MOVES):
        moved = x + MOVE * generator.standard_normal(x.shape)
        if _differ(_output(rules[0], moved), _output(rules[1], moved), x, 100 * MOVE):
            return True
    return False


def resembles(rule: Callable[..., Any], n: int, f: int) -> str | None:
    """The rule of ours that a rule behaves like, with the number of inputs on which it does; None if there is none."""
    generator = np.random.default_rng(n)
    inputs = [generator.standard_normal((n, 2 + place % 2)) for place in range(MANY)]
    names = [*RULES, *(f"krum(neighbours={count})" for count in range(1, n)), *(f"nnm+{name}" for name in RULES)]
    candidates = []
    for name in names:
        try:
            built = parse(name, f)
            built(inputs[0])
        except InputError:
            continue
        candidates.append(built)
    for place, x in enumerate(inputs):
        theirs = _output(rule, x)
        candidates = [each for each in candidates if not _differ(theirs, _output(each, x), x, 1e-5)]
        if not candidates:
            return None
        if place == FEW and len(candidates) > 1:
            candidates = candidates[:1]
    return f"behaves like {candidates[0].label} on {MANY:,} inputs"
