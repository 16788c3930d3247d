"""From the output's expressions to the recipe of a coordinate-wise rule.

An output is coordinate-wise if its k-th entry depends on the k-th entries alone (of the inputs, or of their mixed
means), and in the same way for all k. It is then a symmetric function of n numbers: that renaming two workers, and
renaming all in a circle, leave the expression alone is checked, and these two generate all permutations. So the numbers
may be taken as sorted, and the expression is evaluated on x_0 <= ... <= x_(n-1): to a combination of them, where no
comparison is open any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

from kappaguard.rules.recipe.recipe import NearCentre, OrderStatistics, Recipe
from kappaguard.rules.recipe.trace.expression import Expression, constant
from kappaguard.rules.recipe.trace.reading import Atom, Reader, Unmatched, Vector, require
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.rules.recipe.trace.selection import pool_of, whose

Polynomial = dict[tuple[int, ...], Fraction]
"""Coefficients of products of sorted values."""
UNLIKE = "the code treats workers differently"


class Undecided(Exception):
    """The order of the values does not decide a comparison."""


def column_recipe(reader: Reader, output: Vector) -> Recipe:
    """The recipe of a coordinate-wise output; gives up if it is none."""
    base, mixing = _base(reader, output)
    first = reader.unnamed(output[0])
    for k in range(1, reader.d):
        table = {base[i][k]: base[i][0] for i in range(reader.n)}
        renamed = Renaming(reader, table).expression(reader.unnamed(output[k]))
        require(renamed.key == first.key)
    names = [row[0] for row in base]
    for table in (
        dict(zip(names, (names[1], names[0], *names[2:]), strict=True)),
        dict(zip(names, (*names[1:], names[0]), strict=True)),
    ):
        if Renaming(reader, table).expression(first).key != first.key:
            raise Untraceable(UNLIKE, "a rule must not depend on the order of its inputs")
    evaluation = SortedEvaluation(reader, names)
    try:
        return Recipe(reader.n, _near_centre(reader, evaluation, first, names), mixing)
    except Unmatched:
        pass
    try:
        weights = evaluation.weights(first)
    except Undecided:
        if reader.d == 1:
            # norms of vectors are absolute values here: what they decide is not about coordinates
            raise Unmatched from None
        from kappaguard.rules.recipe.trace.pieces import pieces_of

        return Recipe(reader.n, pieces_of(reader, first, names), mixing)
    if sum(weights) != 1:
        raise Untraceable(f"the weights of the sorted values add up to {sum(weights)}, not to 1", "a sum is not a mean")
    return Recipe(reader.n, OrderStatistics(tuple(weights)), mixing)


def _base(reader: Reader, output: Vector) -> tuple[list[list[int]], tuple[int, ...]]:
    """The atoms x_ik that the output is a function of, by worker and coordinate, and the layers of mixing."""
    columns = [set(_leaves(reader, each, False)) for each in output]
    atoms = reader.symbols.atoms
    if all(atoms[name][2] == k for k, column in enumerate(columns) for name in column):
        return [[reader.symbols.atom("entry", i, k) for k in range(reader.d)] for i in range(reader.n)], ()
    columns = [set(_leaves(reader, each, True)) for each in output]
    rows: dict[object, list[int]] = {}
    for k, column in enumerate(columns):
        for name in column:
            row = rows.setdefault(whose(reader, atoms[name]), [-1] * reader.d)
            row[k] = name
    require(all(-1 not in row for row in rows.values()) and len(rows) == reader.n)
    vectors = tuple(tuple(Expression(reader.symbols, {(name,): 1}) for name in row) for row in rows.values())
    pool = pool_of(reader, vectors)
    require(bool(pool.workers) and bool(pool.mixing))
    by_worker = dict(zip(pool.workers, rows.values(), strict=True))
    return [by_worker[i] for i in range(reader.n)], pool.mixing


def _leaves(reader: Reader, expression: Expression, stop: bool, seen: set[int] | None = None) -> Iterator[int]:
    """The entries that an expression depends on, or with ``stop`` the aliases before them."""
    seen = set() if seen is None else seen
    for name in {name for monomial in expression.terms for name in monomial}:
        if name in seen:
            continue
        seen.add(name)
        description = reader.symbols.atoms[name]
        if description[0] == "entry" or (stop and description[0] == "alias"):
            yield name
            continue
        for key in inner_keys(description):
            yield from _leaves(reader, reader.expression(key), stop, seen)


def inner_keys(description: Atom) -> Iterator[int]:
    """The keys of the expressions that an atom is about."""
    match description:
        case ("root" | "alias", key):
            yield key
        case ("least", members, _):
            yield from members
        case ("at", members, _, beside) | ("rest", members, _, _, beside):
            yield from members
            yield from beside
        case ("quotient", above, below):
            yield from (above, below)
        case ("holds", condition):
            yield from _compared(condition)


def _compared(condition: Any) -> Iterator[int]:
    kind, left, right = condition
    for side in (left, right):
        if kind in ("and", "or", "not"):
            yield from () if side is None else _compared(side)
        else:
            yield side


class Renaming:
    """Other names for some atoms, all through an expression."""

    def __init__(self, reader: Reader, table: dict[int, int]) -> None:
        self.reader, self.table = reader, table
        self.known: dict[int, Expression] = {}

    def expression(self, expression: Expression) -> Expression:
        """The expression with other names."""
        found = constant(0, self.reader.symbols)
        for monomial, value in expression.terms.items():
            part = constant(1, self.reader.symbols)
            for name in monomial:
                part = part * self.atom(name)
            found = found + part._scaled(value, expression.denominator)
        return found

    def atom(self, name: int) -> Expression:
        """An atom with other names in it."""
        if name not in self.known:
            self.known[name] = self._atom(name)
        return self.known[name]

    def _atom(self, name: int) -> Expression:
        symbols = self.reader.symbols
        if name in self.table:
            return Expression(symbols, {(self.table[name],): 1})
        match symbols.atoms[name]:
            case ("root" | "alias" as kind, key):
                found: tuple[Any, ...] = (kind, self.key(key))
            case ("least", members, rank):
                found = ("least", tuple(sorted(map(self.key, members))), rank)
            case ("at", members, rank, beside):
                left, right = self._pairs(members, beside)
                found = ("at", left, rank, right)
            case ("rest", members, rank, place, beside):
                left, right = self._pairs(members, beside)
                found = ("rest", left, rank, place, right)
            case ("quotient", above, below):
                found = ("quotient", self.key(above), self.key(below))
            case ("holds", condition):
                found = ("holds", self._condition(condition))
            case other:
                found = other
        return Expression(symbols, {(symbols.atom(*found),): 1})

    def key(self, key: int) -> int:
        """The key of a renamed expression."""
        return self.expression(self.reader.expression(key)).key

    def _pairs(self, members: tuple[int, ...], beside: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        pairs = sorted((self.key(a), self.key(b)) for a, b in zip(members, beside, strict=True))
        return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)

    def _condition(self, condition: Any) -> Any:
        kind, left, right = condition
        if kind in ("and", "or", "not"):
            return (kind, self._condition(left), None if right is None else self._condition(right))
        return (kind, self.key(left), self.key(right))


class SortedEvaluation:
    """Expressions on sorted numbers: polynomials in x_0 <= ... <= x_(n-1), as long as the order decides everything."""

    def __init__(self, reader: Reader, names: list[int]) -> None:
        self.reader = reader
        self.places = {name: place for place, name in enumerate(names)}
        self.known: dict[int, Polynomial] = {}

    def weights(self, expression: Expression) -> list[Fraction]:
        """The weights of the sorted values."""
        found = self.value(expression)
        if any(len(monomial) != 1 for monomial in found):
            raise Untraceable("the result is not a combination of the sorted values")
        return [found.get((place,), Fraction(0)) for place in range(self.reader.n)]

    def value(self, expression: Expression) -> Polynomial:
        """An expression as a polynomial."""
        found: Polynomial = {}
        for monomial, coefficient in expression.coefficients().items():
            part: Polynomial = {(): coefficient}
            for name in monomial:
                part = _product(part, self.atom(name))
            for key, value in part.items():
                found[key] = found.get(key, Fraction(0)) + value
        return {key: value for key, value in found.items() if value}

    def atom(self, name: int) -> Polynomial:
        """An atom as a polynomial."""
        if name in self.places:
            return {(self.places[name],): Fraction(1)}
        if name not in self.known:
            try:
                self.known[name] = self._atom(self.reader.symbols.atoms[name])
            except Untraceable as refused:
                place = self.reader.symbols.places.get(name)
                if refused.place or place is None:
                    raise
                raise Untraceable(refused.why, refused.hint, *place) from None
        return self.known[name]

    def _atom(self, description: Atom) -> Polynomial:
        match description:
            case ("alias", key):
                return self.value(self.reader.expression(key))
            case ("root", key):
                linear = _root(self.value(self.reader.expression(key)))
                return linear if self.sign(linear) >= 0 else scaled(linear, -1)
            case ("least", members, int(rank)):
                values = self._comparable(members)
                place = self._ordered(values)[rank]
                return self.value(self.reader.expression(members[place]))
            case ("at", members, int(rank), beside):
                place = self._ordered(self._comparable(members))[rank]
                return self.value(self.reader.expression(beside[place]))
            case ("quotient", above, below):
                divisor = self.value(self.reader.expression(below))
                if set(divisor) != {()}:
                    raise Untraceable("something is divided by a value that depends on the input")
                return scaled(self.value(self.reader.expression(above)), 1 / divisor[()])
            case ("holds", condition):
                return {(): Fraction(1)} if self._holds(condition) else {}
        raise Unmatched

    def _comparable(self, members: tuple[int, ...]) -> list[Polynomial]:
        """Members of a family by values with their order: squares by what is squared."""
        values = [self.value(self.reader.expression(member)) for member in members]
        if all(degree(value) <= 1 for value in values):
            return values
        roots = [_root(value) for value in values]
        return [root if self.sign(root) >= 0 else scaled(root, -1) for root in roots]

    def _ordered(self, values: list[Polynomial]) -> list[int]:
        """The places of values in ascending order, if the order of x decides it."""
        found: list[int] = []
        for place, value in enumerate(values):
            position = len(found)
            while position and self.sign(minus(value, values[found[position - 1]])) < 0:
                position -= 1
            found.insert(position, place)
        return found

    def _holds(self, condition: Any) -> bool:
        kind, left, right = condition
        if kind == "not":
            return not self._holds(left)
        if kind in ("and", "or"):
            return (
                (self._holds(left) and self._holds(right))
                if kind == "and"
                else (self._holds(left) or self._holds(right))
            )
        return self.compare(
            kind, minus(self.value(self.reader.expression(right)), self.value(self.reader.expression(left)))
        )

    def compare(self, kind: str, gap: Polynomial) -> bool:
        """Whether gap > 0 (for <), gap >= 0 (for <=) or gap = 0, where the order of x decides that."""
        if kind == "<=" and self.never_negative(gap):
            return True
        if kind == "<" and self.never_negative(scaled(gap, -1)):
            return False
        raise Undecided

    def sign(self, value: Polynomial) -> int:
        """1 or 0 where a combination of sorted values is never negative, -1 where it is never positive."""
        if self.never_negative(value):
            return 1
        if self.never_negative(scaled(value, -1)):
            return -1
        raise Undecided

    def never_negative(self, value: Polynomial) -> bool:
        """Whether it is a non-negative combination of gaps x_(i+1) - x_i."""
        if degree(value) > 1:
            return False
        if () in value:
            raise Untraceable(
                "values are compared with a constant", "a rule must not depend on the scale or the origin"
            )
        total = Fraction(0)
        for place in range(self.reader.n - 1, -1, -1):
            total += value.get((place,), Fraction(0))
            if total < 0:
                return False
        if total != 0:
            raise Untraceable("values are compared with zero", "a rule must not depend on the origin")
        return True


def _near_centre(reader: Reader, evaluation: SortedEvaluation, output: Expression, names: list[int]) -> NearCentre:
    """The mean of the values nearest to a centre c, a combination of sorted values: ranks by (x_i - c)^2."""
    terms = reader.linear(output)
    families = {description[1] for description in terms}
    require(all(description[0] == "at" for description in terms) and len(families) == 1)
    members = families.pop()
    ranks = {description[2] for description in terms}
    require(ranks == set(range(len(terms))) and set(terms.values()) == {Fraction(1, len(terms))})
    beside = {description[3] for description in terms}
    require(len(beside) == 1)
    atoms = [reader.expression(key) for key in beside.pop()]
    symbols = reader.symbols
    places = {Expression(symbols, {(name,): 1}).key: name for name in names}
    require(sorted(each.key for each in atoms) == sorted(places))
    # (x_i - c)^2 = x_i^2 - 2 c x_i + c^2: c from the coefficient of x_i
    first = reader.expression(members[0])
    name = places[atoms[0].key]
    centre = constant(0, symbols)
    square = first.coefficients().get((name, name), Fraction(0))
    require(square != 0)
    for monomial, value in first.coefficients().items():
        if len(monomial) == 2 and name in monomial and monomial != (name, name):
            other = monomial[0] if monomial[1] == name else monomial[1]
            require(other not in names)
            part = Expression(symbols, {(other,): 1})
            centre = centre + part._scaled(*(-value / (2 * square)).as_integer_ratio())
    require(not centre.is_zero)
    expected = [(each - centre) * (each - centre) for each in atoms]
    require(reader.proportional([reader.expression(member) for member in members], expected) > 0)
    try:
        weights = evaluation.weights(centre)
    except Undecided:
        raise Unmatched from None
    require(sum(weights) == 1)
    return NearCentre(tuple(weights), len(terms))


def degree(value: Polynomial) -> int:
    return max(map(len, value), default=0)


def scaled(value: Polynomial, factor: Fraction | int) -> Polynomial:
    return {key: each * factor for key, each in value.items() if each * factor}


def minus(left: Polynomial, right: Polynomial) -> Polynomial:
    found = dict(left)
    for key, value in right.items():
        found[key] = found.get(key, Fraction(0)) - value
    return {key: value for key, value in found.items() if value}


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for first, value in left.items():
        for second, factor in right.items():
            key = tuple(sorted(first + second))
            found[key] = found.get(key, Fraction(0)) + value * factor
    return found


def _root(value: Polynomial) -> Polynomial:
    """The linear combination whose square this is."""
    if not value:
        return {}
    first = min(value)
    if len(first) == 2 and first[0] == first[1] and value[first] > 0:
        top, bottom = value[first].as_integer_ratio()
        if isqrt(top) ** 2 == top and isqrt(bottom) ** 2 == bottom:
            lead = Fraction(isqrt(top), isqrt(bottom))
            found: Polynomial = {(first[0],): lead}
            for key, coefficient in value.items():
                if len(key) == 2 and key[0] == first[0] and key[1] != first[0]:
                    found[(key[1],)] = coefficient / (2 * lead)
            if not minus(_product(found, found), value):
                return found
    raise Untraceable(
        "a root that is not an absolute value", "its order or its square can be used, not the root itself"
    )
