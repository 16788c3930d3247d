"""Reading expressions back: linear terms, names resolved, vectors over all coordinates, squared distances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.trace.expression import Expression, Symbols, atom, constant, of_key
from kappaguard.rules.recipe.trace.order import least
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.rules.recipe.trace.weighing import gathered, left_over

Atom = tuple[Any, ...]
Vector = tuple[Expression, ...]
OPEN = "np.partition and np.argpartition leave the order of the others open, and what is taken depends on it"
OPEN_HINT = "take exactly what lies before or behind kth, or sort"


class Unmatched(Exception):
    """This is not the pattern that was looked for."""


def require(condition: bool) -> None:
    """Give up on a pattern unless the condition holds."""
    if not condition:
        raise Unmatched


class Reader:
    """Reads the expressions of one trace on n vectors of dimension d."""

    def __init__(self, symbols: Symbols, n: int, d: int) -> None:
        self.symbols, self.n, self.d = symbols, n, d
        self._normal: dict[int, Expression] = {}
        self._distances: dict[tuple[int, ...], Expression] = {}

    def expression(self, key: int) -> Expression:
        """The expression with a key, with open ranks resolved."""
        found = self._normal.get(key)
        if found is None:
            found = self._normal[key] = self.resolved(of_key(self.symbols, key))
        return found

    def resolved(self, expression: Expression) -> Expression:
        """With ranks that were left open summed up: all of a group with one coefficient are its ranks in any order."""
        expression = left_over(gathered(expression))
        atoms = self.symbols.atoms
        opened: dict[Atom, dict[int, int]] = {}
        for monomial, value in expression.terms.items():
            for name in monomial:
                description = atoms[name]
                if description[0] in ("least", "at") and isinstance(description[2], tuple):
                    if len(monomial) > 1:
                        raise Untraceable(OPEN, OPEN_HINT)
                    low, high, place = description[2]
                    group = (description[0], description[1], (low, high), *description[3:])
                    opened.setdefault(group, {})[place] = value
        if not opened:
            return expression
        terms = {m: v for m, v in expression.terms.items() if not self._is_open(m)}
        found = Expression(self.symbols, terms, expression.denominator)
        for (kind, members, (low, high), *rest), coefficients in opened.items():
            if (
                set(coefficients) != set(range(high - low))
                or len(set(coefficients.values())) > 1
                or high > len(members)
            ):
                raise Untraceable(OPEN, OPEN_HINT)
            factor = next(iter(coefficients.values()))
            for rank in range(low, high):
                # the least of all may be known to be zero
                description = (kind, members, rank, *rest)
                settled = (
                    least(members, rank, False, self.symbols) if kind == "least" else atom(self.symbols, *description)
                )
                found = found + settled._scaled(factor, expression.denominator)
        return found

    def _is_open(self, monomial: tuple[int, ...]) -> bool:
        if len(monomial) != 1:
            return False
        description = self.symbols.atoms[monomial[0]]
        return description[0] in ("least", "at") and isinstance(description[2], tuple)

    def unnamed(self, expression: Expression) -> Expression:
        """With its own aliases replaced by what they stand for."""
        atoms = self.symbols.atoms
        if not any(len(m) == 1 and atoms[m[0]][0] == "alias" for m in expression.terms):
            return self.resolved(expression)
        found = constant(0, self.symbols)
        for monomial, value in expression.terms.items():
            if len(monomial) == 1 and atoms[monomial[0]][0] == "alias":
                part = of_key(self.symbols, atoms[monomial[0]][1])
            else:
                part = Expression(self.symbols, {monomial: 1})
            found = found + part._scaled(value, expression.denominator)
        return self.resolved(found)

    def linear(self, expression: Expression) -> dict[Atom, Fraction]:
        """Coefficients by atom; gives up where it is not linear, or has a constant."""
        require(all(len(monomial) == 1 for monomial in expression.terms))
        return {
            self.symbols.atoms[monomial[0]]: Fraction(value, expression.denominator)
            for monomial, value in expression.terms.items()
        }

    def distance(self, left: Vector, right: Vector) -> Expression:
        """The squared distance of two vectors."""
        key = tuple(each.key for each in (*left, *right))
        found = self._distances.get(key)
        if found is None:
            found = constant(0, self.symbols)
            for a, b in zip(left, right, strict=True):
                found = found + (a - b) * (a - b)
            self._distances[key] = found
            self._distances[tuple(each.key for each in (*right, *left))] = found
        return found

    def mean(self, vectors: list[Vector]) -> Vector:
        """The mean of vectors."""
        found = []
        for column in zip(*vectors, strict=True):
            total: Any = constant(0, self.symbols)
            for each in column:
                total = total + each
            found.append(total / len(vectors))
        return tuple(found)

    def proportional(self, scores: list[Expression], expected: list[Expression]) -> int:
        """The sign of c if all scores are c times what is expected plus one and the same; gives up if they are not."""
        if len(scores) == 1:
            return 1
        difference = (expected[0] - expected[1]).coefficients()
        require(bool(difference))
        monomial, value = next(iter(difference.items()))
        factor = (scores[0] - scores[1]).coefficients().get(monomial, Fraction(0)) / value
        require(factor != 0)
        numerator, denominator = factor.as_integer_ratio()
        rest = {
            (score - each._scaled(numerator, denominator)).key for score, each in zip(scores, expected, strict=True)
        }
        require(len(rest) == 1)
        return 1 if factor > 0 else -1
