"""Reading expressions back: linear terms, names resolved, vectors over all coordinates, squared distances."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.trace.expression import Expression, Symbols, atom, constant, of_key
from kappaguard.rules.recipe.trace.order import least, standing_at
from kappaguard.rules.recipe.trace.refusal import Untraceable

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
        expression = self._gathered(expression)
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

    def _gathered(self, expression: Expression) -> Expression:
        """With weights by rank multiplied in: what stands beside a rank, times y, is y times that beside the rank."""
        found = constant(0, self.symbols)
        products: dict[tuple[Any, ...], list[Expression]] = {}
        for monomial, value in expression.terms.items():
            weights, other = self._weighed(monomial)
            if not weights:
                found = found + Expression(self.symbols, {monomial: value}, expression.denominator)
                continue
            for description, factor in weights.items():
                _, members, rank, beside = description
                rows = products.setdefault((members, rank), [constant(0, self.symbols)] * len(members))
                scale = factor * Fraction(value, expression.denominator)
                for place, key in enumerate(beside):
                    weight = Fraction(of_key(self.symbols, key).coefficients().get((), 0)) * scale
                    rows[place] = rows[place] + other._scaled(*weight.as_integer_ratio())
        if not products:
            return expression
        for (members, rank), rows in products.items():
            first = next((value for row in rows for value in row.coefficients().values()), Fraction(1))
            beside = tuple(row._scaled(*(1 / first).as_integer_ratio()) for row in rows)
            found = found + standing_at(members, rank, beside, self.symbols)._scaled(*first.as_integer_ratio())
        return found

    def _weighed(self, monomial: tuple[int, ...]) -> tuple[dict[Atom, Fraction], Expression]:
        """The weights by rank in a product of two, and the other factor; no weights if there are none."""
        nothing = constant(0, self.symbols)
        if len(monomial) != 2:
            return {}, nothing
        for name, other in (monomial, monomial[::-1]):
            description = self.symbols.atoms[name]
            part = of_key(self.symbols, description[1]) if description[0] == "alias" else None
            terms = {description: Fraction(1)} if part is None else {}
            if part is not None:
                if any(len(each) != 1 for each in part.terms):
                    continue
                terms = self.linear(part)
            if all(each[0] == "at" and all(of_key(self.symbols, key).degree == 0 for key in each[3]) for each in terms):
                return terms, Expression(self.symbols, {(other,): 1})
        return {}, nothing

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
