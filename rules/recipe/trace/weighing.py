"""Weights that stand at ranks, multiplied in: what stands beside a rank, times y, is y times that beside the rank."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.trace.expression import Expression, Symbols, constant, of_key
from kappaguard.rules.recipe.trace.order import standing_at

Weights = dict[tuple[Any, ...], Fraction]


def gathered(expression: Expression) -> Expression:
    """A sum of products of weights by rank and values as the sum of what stands at the ranks."""
    symbols = expression.symbols
    if not symbols.weights:
        return expression
    found = constant(0, symbols)
    products: dict[tuple[Any, ...], list[Expression]] = {}
    for monomial, value in expression.terms.items():
        weights, other = _weighed(monomial, symbols)
        if not weights:
            found = found + Expression(symbols, {monomial: value}, expression.denominator)
            continue
        for description, factor in weights.items():
            _, members, rank, beside = description
            rows = products.setdefault((members, rank), [constant(0, symbols)] * len(members))
            scale = factor * Fraction(value, expression.denominator)
            for place, key in enumerate(beside):
                weight = Fraction(of_key(symbols, key).coefficients().get((), 0)) * scale
                if weight:
                    rows[place] = rows[place] + other._scaled(*weight.as_integer_ratio())
    if not products:
        return expression
    for (members, rank), rows in products.items():
        first = next((value for row in rows for value in row.coefficients().values()), Fraction(1))
        beside = tuple(row._scaled(*(1 / first).as_integer_ratio()) for row in rows)
        found = found + standing_at(members, rank, beside, symbols)._scaled(*first.as_integer_ratio())
    return found


def left_over(expression: Expression) -> Expression:
    """The sum of all that are left after one was removed by its rank, as the sum of what stands at the other ranks."""
    symbols = expression.symbols
    terms = dict(expression.terms)
    groups: dict[tuple[Any, ...], dict[int, tuple[int, ...]]] = {}
    for monomial in terms:
        description = symbols.atoms[monomial[0]] if len(monomial) == 1 else ("",)
        if description[0] == "rest":
            _, members, rank, place, beside = description
            groups.setdefault((members, rank, beside), {})[place] = monomial
    found = constant(0, symbols)
    for (members, removed, beside), monomials in groups.items():
        values = {terms[monomial] for monomial in monomials.values()}
        if len(monomials) < len(members) - 1 or len(values) > 1:
            continue
        for monomial in monomials.values():
            del terms[monomial]
        for rank in range(len(members)):
            if rank != removed:
                each = standing_at(members, rank, tuple(of_key(symbols, key) for key in beside), symbols)
                found = found + each._scaled(next(iter(values)), expression.denominator)
    if found.is_zero:
        return expression
    return left_over(found + Expression(symbols, terms, expression.denominator))


def _weighed(monomial: tuple[int, ...], symbols: Symbols) -> tuple[Weights, Expression]:
    """The weights by rank in a product of two, and the other factor; no weights if there are none."""
    nothing = constant(0, symbols)
    if len(monomial) != 2:
        return {}, nothing
    for name, other in (monomial, monomial[::-1]):
        description = symbols.atoms[name]
        part = of_key(symbols, description[1]) if description[0] == "alias" else None
        terms: Weights = {description: Fraction(1)}
        if part is not None:
            if any(len(each) != 1 for each in part.terms):
                continue
            terms = {symbols.atoms[each[0]]: Fraction(v, part.denominator) for each, v in part.terms.items()}
        if all(each[0] == "at" and all(of_key(symbols, key).degree == 0 for key in each[3]) for each in terms):
            return terms, Expression(symbols, {(other,): 1})
    return {}, nothing
