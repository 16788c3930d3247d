"""Polynomials with rational coefficients over atoms: what a traced program computes with in place of numbers.

An atom is an entry of the input, x_ik, or a name for something that is not a polynomial of earlier atoms:

    ("entry", i, k)             x_ik
    ("root", e)                 the square root of e >= 0; its square is e
    ("least", F, r)             the value at rank r (from 0) of the sorted family F of expressions
    ("at", F, r, C)             with C aligned to F: the c in C that stands beside the member of F at rank r
    ("rest", F, r, p, C)        the p-th of the others, in the order in which they came
    ("alias", e)                a linear combination e under one name, so that squares stay short
    ("holds", condition)        1 where the condition holds, else 0
    ("quotient", e, g)          e / g

A rank is a number, or (low, high, p): one of the ranks low .. high - 1, and which one is left open (``partition``).
Expressions are interned: equal ones are one object with one ``key``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

from kappaguard.rules.base.rationals import simplest_of_float
from kappaguard.rules.recipe.trace.refusal import place_in_code, refuse

Monomial = tuple[int, ...]
Rank = int | tuple[int, int, int]
Number = int | float | Fraction
SIMPLE = 4096
"""A float is read as the fraction with a denominator up to this whose float it is, or else as itself."""
MOST_WORK = 30_000_000
"""Products of terms in one trace: half a minute of them."""
LONG = 3
"""A linear combination with so many selected values gets a name of its own when it is divided or multiplied."""


SQUARED = ("root", "holds")
"""Atoms whose square is something shorter."""


PLACED = ("root", "holds", "quotient")
"""Atoms whose line in the code is remembered: they may be what no recipe can follow."""


class Symbols:
    """The atoms and interned expressions of one trace.

    ``extremes`` has, of which values an expression is the greatest or the least; ``signs`` whether it is
    never negative; ``results`` what functions returned;
    ``weights`` whether plain numbers stand at ranks.
    """

    def __init__(self) -> None:
        self.atoms: list[tuple[Any, ...]] = []
        self.number: dict[tuple[Any, ...], int] = {}
        self.keys: dict[tuple[Any, ...], int] = {}
        self.expressions: list[Expression] = []
        self.work = 0
        self.notes: dict[str, tuple[str, str]] = {}
        self.places: dict[int, tuple[str, str]] = {}
        self.extremes: dict[tuple[int, bool], tuple[int, ...]] = {}
        self.signs: dict[int, bool] = {}
        self.results: dict[tuple[Any, ...], Any] = {}
        self.weights = False

    def note(self, what: str) -> None:
        """Remember where the code first did something that few recipes can follow."""
        if what not in self.notes:
            self.notes[what] = place_in_code()

    def spend(self, work: int) -> None:
        """Refuse if expressions grow without end."""
        self.work += work
        if self.work > MOST_WORK:
            refuse("what it computes grows too long to be followed", "iterations, and products of products, do that")

    def atom(self, *description: Any) -> int:
        """The number of an atom, a new one if it is new."""
        found = self.number.get(description)
        if found is None:
            found = self.number[description] = len(self.atoms)
            self.atoms.append(description)
            if description[0] in PLACED:
                self.places[found] = place_in_code()
        return found

    def key(self, expression: Expression) -> int:
        """The number of an expression: the same for equal ones."""
        if expression._key is None:
            terms, denominator = expression.lowest()
            description = (denominator, *sorted(terms.items()))
            found = self.keys.get(description)
            if found is None:
                found = self.keys[description] = len(self.expressions)
                self.expressions.append(expression)
            expression._key = found
        return expression._key


class Expression:
    """A polynomial: integer coefficients of monomials over one denominator."""

    __slots__ = ("_key", "denominator", "symbols", "terms")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, symbols: Symbols, terms: dict[Monomial, int], denominator: int = 1) -> None:
        self.symbols, self.terms, self.denominator = symbols, terms, denominator
        self._key: int | None = None

    @property
    def key(self) -> int:
        """Equal expressions have equal keys."""
        return self.symbols.key(self)

    def lowest(self) -> tuple[dict[Monomial, int], int]:
        """Coefficients and denominator without common factor, and without zeros."""
        common = math.gcd(self.denominator, *self.terms.values())
        if common > 1:
            self.terms = {monomial: value // common for monomial, value in self.terms.items()}
            self.denominator //= common
        return self.terms, self.denominator

    @property
    def degree(self) -> int:
        """The largest number of factors of a monomial; 0 for a constant."""
        return max(map(len, self.terms), default=0)

    @property
    def factors(self) -> int:
        """The degree, where indicators do not count."""
        atoms = self.symbols.atoms
        return max((sum(atoms[name][0] != "holds" for name in monomial) for monomial in self.terms), default=0)

    @property
    def is_zero(self) -> bool:
        """Whether it is the constant 0."""
        return not self.terms

    def single(self, kind: str) -> tuple[Any, ...] | None:
        """The atom's description if this is one atom of a kind, with coefficient 1."""
        if len(self.terms) != 1 or self.lowest()[1] != 1:
            return None
        ((monomial, value),) = self.terms.items()
        if value != 1 or len(monomial) != 1:
            return None
        found = self.symbols.atoms[monomial[0]]
        return found if found[0] == kind else None

    def coefficients(self) -> dict[Monomial, Fraction]:
        """The coefficients as fractions."""
        return {monomial: Fraction(value, self.denominator) for monomial, value in self.terms.items()}

    # arithmetic

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def _plus(self, other: Any, sign: int) -> Any:
        right = lifted(other, self.symbols)
        if not isinstance(right, Expression):
            return right if right is NotImplemented else sign * right
        self.symbols.spend(1 + len(right.terms) // 8)
        if len(right.terms) == 1 and _has_roots(right, "root") and _has_roots(self, "root"):
            self.symbols.note("root")
        if self.denominator == right.denominator:
            scale, factor, denominator = 1, sign, self.denominator
        else:
            denominator = math.lcm(self.denominator, right.denominator)
            scale, factor = denominator // self.denominator, sign * (denominator // right.denominator)
        terms = dict(self.terms) if scale == 1 else {key: value * scale for key, value in self.terms.items()}
        for monomial, value in right.terms.items():
            total = terms.get(monomial, 0) + factor * value
            if total:
                terms[monomial] = total
            else:
                terms.pop(monomial, None)
        return Expression(self.symbols, terms, denominator)

    def __neg__(self) -> Expression:
        return Expression(self.symbols, {key: -value for key, value in self.terms.items()}, self.denominator)

    def __pos__(self) -> Expression:
        return self

    def __mul__(self, other: Any) -> Any:
        right = lifted(other, self.symbols)
        if not isinstance(right, Expression):
            if right is NotImplemented:
                return right
            refuse("an infinite number is multiplied with something that depends on the input")
        if right.degree == 0:
            return self._scaled(right.terms.get((), 0), right.denominator)._named()
        if self.degree == 0:
            return right._scaled(self.terms.get((), 0), self.denominator)._named()
        left = self._named()
        right = left if right is self else right._named()
        self.symbols.spend(len(left.terms) * len(right.terms))
        if left.factors + right.factors > 2:
            refuse("a product of three or more values of the input", "scores are squared distances, or sums of them")
        terms: dict[Monomial, int] = {}
        symbols = self.symbols
        result = Expression(symbols, terms, left.denominator * right.denominator)
        if left is right and left.degree == 1 and () not in left.terms and not _has_roots(left):
            return Expression(symbols, _squared(left.terms), result.denominator)
        extra: list[Expression] = []
        special = _has_roots(left) and _has_roots(right)
        for first, value in left.terms.items():
            for second, factor in right.terms.items():
                monomial, product = tuple(sorted(first + second)), value * factor
                inner = _simplified(monomial, symbols) if special else None
                if inner is not None:
                    extra.append(inner._scaled(product, result.denominator))
                    continue
                total = terms.get(monomial, 0) + product
                if total:
                    terms[monomial] = total
                else:
                    terms.pop(monomial, None)
        for each in extra:
            result = result + each
        return result

    __rmul__ = __mul__

    def _scaled(self, numerator: int, denominator: int) -> Expression:
        if numerator == 0:
            return Expression(self.symbols, {})
        terms = {key: value * numerator for key, value in self.terms.items()}
        return Expression(self.symbols, terms, self.denominator * denominator)

    def _named(self) -> Expression:
        """Itself; a combination of three or more selected values under one name, so that products stay short.

        The name stands for the combination with coefficients of sum 1, or if their sum is 0 with the first one 1.
        """
        atoms = self.symbols.atoms
        ranked = sum(len(m) == 1 and atoms[m[0]][0] in ("at", "rest") for m in self.terms)
        if ranked < LONG or self.degree > 1:
            return self
        rest = self.terms.get((), 0)
        inner = {m: value for m, value in self.terms.items() if m}
        first = sum(inner.values()) or inner[min(inner)]
        whole = Expression(self.symbols, inner, self.denominator)._scaled(self.denominator, first)
        if first < 0:
            whole = Expression(self.symbols, {m: -v for m, v in whole.terms.items()}, -whole.denominator)
        found: dict[Monomial, int] = {(self.symbols.atom("alias", whole.key),): first}
        if rest:
            found[()] = rest
        return Expression(self.symbols, found, self.denominator)

    def __truediv__(self, other: Any) -> Any:
        right = lifted(other, self.symbols)
        if not isinstance(right, Expression):
            return right if right is NotImplemented else 0.0
        right = _settled(right)
        if right.degree == 0:
            value = Fraction(right.terms.get((), 0), right.denominator)
            if not value:
                refuse("division by zero")
            return self._scaled(*(1 / value).as_integer_ratio())._named()
        if self.is_zero:
            return self
        if not all(self.symbols.atoms[name][0] == "holds" for monomial in right.terms for name in monomial):
            self.symbols.note("quotient")
        return atom(self.symbols, "quotient", self.key, right.key)

    def __rtruediv__(self, other: Any) -> Any:
        left = lifted(other, self.symbols)
        return left / self if isinstance(left, Expression) else NotImplemented

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Expression):
            refuse("an exponent depends on the input")
        if power == 0.5:
            return self.sqrt()
        if power != int(power) or not 0 <= power <= 8:
            refuse(f"a value is raised to the power {power}", "only powers 1/2, 1, 2, ... are polynomials")
        result: Any = constant(1, self.symbols)
        for _ in range(int(power)):
            result = result * self
        return result

    def sqrt(self) -> Expression:
        """The square root, of which only the order and the square can be used."""
        if self.degree == 0:
            value = Fraction(self.terms.get((), 0), self.denominator)
            roots = math.isqrt(max(value.numerator, 0)), math.isqrt(value.denominator)
            if value >= 0 and roots[0] ** 2 == value.numerator and roots[1] ** 2 == value.denominator:
                return constant(Fraction(*roots), self.symbols)
        return atom(self.symbols, "root", self.key)

    def __abs__(self) -> Expression:
        from kappaguard.rules.recipe.trace.order import is_nonnegative

        return self if is_nonnegative(self) else (self * self).sqrt()

    def conjugate(self) -> Expression:
        """Itself: everything is real."""
        return self

    def square(self) -> Any:
        """What ``numpy.square`` calls."""
        return self * self

    @property
    def real(self) -> Expression:
        """The expression itself: nothing here is complex."""
        return self

    # what needs a decision

    def __lt__(self, other: Any) -> Any:
        return _compare(self, other, "<")

    def __le__(self, other: Any) -> Any:
        return _compare(self, other, "<=")

    def __gt__(self, other: Any) -> Any:
        return _compare(other, self, "<")

    def __ge__(self, other: Any) -> Any:
        return _compare(other, self, "<=")

    def __eq__(self, other: object) -> Any:
        return _compare(self, other, "==")

    def __ne__(self, other: object) -> Any:
        found = _compare(self, other, "==")
        return not found if isinstance(found, bool) else ~found

    def __bool__(self) -> bool:  # noqa: PLE0304
        refuse("a value of the input is used as true or false")

    def __float__(self) -> float:
        refuse("a value that depends on the input is turned into a plain number", "keep it in the array it came from")

    def __int__(self) -> int:
        refuse("a value that depends on the input is turned into a whole number")

    __index__ = __int__

    def __round__(self, digits: int | None = None) -> Any:
        refuse("a value is rounded", "rounding is not piecewise linear with finitely many pieces")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from kappaguard.rules.recipe.trace.ufuncs import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)


def _compare(left: Any, right: Any, kind: str) -> Any:
    from kappaguard.rules.recipe.trace.conditions import compare

    return compare(left, right, kind)


def lifted(value: Any, symbols: Symbols) -> Any:
    """A number as a constant; an infinite one as itself; NotImplemented if it is neither number nor expression."""
    if isinstance(value, Expression):
        return value
    if hasattr(value, "indicator"):
        return value.indicator()
    if isinstance(value, Real):
        if isinstance(value, int | Fraction):
            return constant(value, symbols)
        seen = float(value)
        if math.isnan(seen):
            refuse("not-a-number takes part in the computation")
        return seen if math.isinf(seen) else constant(simplest(seen), symbols)
    return NotImplemented


def simplest(value: float) -> Fraction:
    """The simplest fraction whose float this is, if it is simple; else the float itself."""
    simple = simplest_of_float(value)
    return simple if simple.denominator <= SIMPLE else Fraction(value)


def constant(value: Number, symbols: Symbols) -> Expression:
    """An expression that does not depend on the input."""
    fraction = Fraction(value)
    return Expression(symbols, {(): fraction.numerator} if fraction else {}, fraction.denominator if fraction else 1)


def atom(symbols: Symbols, *description: Any) -> Expression:
    """The expression that is one atom."""
    return Expression(symbols, {(symbols.atom(*description),): 1})


def of_key(symbols: Symbols, key: int) -> Expression:
    """The expression with a key."""
    return symbols.expressions[key]


def _simplified(monomial: Monomial, symbols: Symbols) -> Expression | None:
    """A product with the square of a root, or of an indicator, in it; None if there is none."""
    for place, left in enumerate(monomial[:-1]):
        kind = symbols.atoms[left][0]
        if left != monomial[place + 1] or kind not in ("root", "holds"):
            continue
        others = Expression(symbols, {monomial[:place] + monomial[place + 2 :]: 1})
        inner = of_key(symbols, symbols.atoms[left][1]) if kind == "root" else Expression(symbols, {(left,): 1})
        found: Expression = inner * others
        return found
    return None


def _settled(expression: Expression) -> Expression:
    """A sum of weights by rank as the number that it is, if it is one whatever stands at the ranks."""
    symbols = expression.symbols
    total = Fraction(expression.terms.get((), 0), expression.denominator)
    beside: dict[Any, list[Fraction]] = {}
    for monomial, value in expression.terms.items():
        if not monomial:
            continue
        description = symbols.atoms[monomial[0]]
        if len(monomial) > 1 or description[0] != "at":
            return expression
        weights = [of_key(symbols, key) for key in description[3]]
        if any(weight.degree for weight in weights):
            return expression
        sums = beside.setdefault(description[1:3], [Fraction(0)] * len(weights))
        for place, weight in enumerate(weights):
            sums[place] += Fraction(weight.terms.get((), 0), weight.denominator) * Fraction(
                value, expression.denominator
            )
    if any(len(set(sums)) > 1 for sums in beside.values()):
        return expression
    return constant(total + sum(sums[0] for sums in beside.values()), symbols)


def _has_roots(expression: Expression, *kinds: str) -> bool:
    atoms = expression.symbols.atoms
    return any(atoms[name][0] in (kinds or SQUARED) for monomial in expression.terms for name in monomial)


def _squared(terms: dict[Monomial, int]) -> dict[Monomial, int]:
    """The square of a linear combination."""
    ordered = sorted((name, value) for (name,), value in terms.items())
    found: dict[Monomial, int] = {}
    for place, (name, value) in enumerate(ordered):
        found[(name, name)] = value * value
        for other, factor in ordered[place + 1 :]:
            found[(name, other)] = 2 * value * factor
    return found


def under_root(expression: Expression) -> Expression | None:
    """e if this is the root of e, with a positive factor that is moved inside; None if it is no root."""
    if expression.is_zero:
        return expression
    if len(expression.terms) != 1:
        return None
    ((monomial, value),) = expression.terms.items()
    if len(monomial) != 1 or value < 0:
        return None
    description = expression.symbols.atoms[monomial[0]]
    if description[0] != "root":
        return None
    factor = Fraction(value, expression.denominator)
    return of_key(expression.symbols, description[1])._scaled(*(factor * factor).as_integer_ratio())
