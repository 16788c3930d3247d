"""Scores that are squared distances to a centre whose coordinates are order statistics: the centre read off them.

||x_i - c||^2 = sum over k of x_ik^2 - 2 c_k x_ik + c_k^2: so c_k is the coefficient of x_ik, over minus twice that of
its square. What is found is compared with all scores, expression for expression, and has to be coordinate-wise.
"""

from __future__ import annotations

from fractions import Fraction

from kappaguard.rules.recipe.recipe import NearVector, OrderStatistics
from kappaguard.rules.recipe.trace.columns import column_recipe
from kappaguard.rules.recipe.trace.expression import Expression, constant
from kappaguard.rules.recipe.trace.reading import Reader, Vector, require


def near_vector(reader: Reader, scores: list[Expression], vectors: tuple[Vector, ...], count: int) -> NearVector:
    """The ``count`` vectors with the least scores, if scores are distances to such a centre; gives up if not."""
    names = {name for vector in vectors for each in vector for monomial in each.terms for name in monomial}
    centre = tuple(_coordinate(reader, scores[0], each, names) for each in vectors[0])
    require(reader.proportional(scores, [reader.distance(vector, centre) for vector in vectors]) > 0)
    found = column_recipe(reader, centre)
    require(isinstance(found.choice, OrderStatistics) and not found.mixing)
    assert isinstance(found.choice, OrderStatistics)
    return NearVector(found.choice.weights, count)


def _coordinate(reader: Reader, score: Expression, entry: Expression, names: set[int]) -> Expression:
    """One coordinate of the centre, from the score of a vector and that vector's entry."""
    require(entry.single("entry") is not None)
    ((name,),) = entry.terms
    terms = score.coefficients()
    square = terms.get((name, name), Fraction(0))
    require(square != 0)
    centre = constant(0, reader.symbols)
    for monomial, value in terms.items():
        if len(monomial) == 2 and name in monomial and monomial != (name, name):
            other = monomial[0] if monomial[1] == name else monomial[1]
            require(other not in names)
            part = Expression(reader.symbols, {(other,): 1})
            centre = centre + part._scaled(*(-value / (2 * square)).as_integer_ratio())
    return centre
