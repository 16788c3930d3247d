"""Comparisons of expressions, which nobody decides: as names, or as the numbers 0 and 1."""

from __future__ import annotations

from typing import Any

from kappaguard.rules.recipe.trace.expression import Expression, Symbols, atom, lifted, under_root


class Condition:
    """A comparison of expressions, or a combination of such: ``left < right``, ``<=``, ``==``, and, or, not."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, symbols: Symbols, kind: str, left: Any, right: Any = None) -> None:
        self.symbols, self.kind, self.left, self.right = symbols, kind, left, right

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal conditions have equal keys."""
        right = None if self.right is None else self.right.key
        return (self.kind, self.left.key, right)

    def __and__(self, other: Any) -> Any:
        return self._with("and", other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self._with("or", other)

    __ror__ = __or__

    def __invert__(self) -> Condition:
        return self.left if self.kind == "not" else Condition(self.symbols, "not", self)

    def _with(self, kind: str, other: Any) -> Any:
        if isinstance(other, Condition):
            return Condition(self.symbols, kind, self, other)
        if not isinstance(other, bool | int) and type(other).__name__ != "bool":
            return NotImplemented
        neutral = kind == "and"
        return self if bool(other) == neutral else not neutral

    def indicator(self) -> Expression:
        """1 where it holds, else 0."""
        self.symbols.note("holds")
        return atom(self.symbols, "holds", self.key)

    def __add__(self, other: Any) -> Any:
        return self.indicator() + (other.indicator() if isinstance(other, Condition) else other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self.indicator() * (other.indicator() if isinstance(other, Condition) else other)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self.indicator() - (other.indicator() if isinstance(other, Condition) else other)

    def __rsub__(self, other: Any) -> Any:
        return other - self.indicator()

    def __truediv__(self, other: Any) -> Any:
        return self.indicator() / other

    def __bool__(self) -> bool:
        from kappaguard.rules.recipe.trace.run import decide

        return decide(self)


def compare(left: Any, right: Any, kind: str) -> Any:
    """``left < right`` and so on: plain if it does not depend on the input."""
    symbols = left.symbols if isinstance(left, Expression) else right.symbols
    pair = lifted(left, symbols), lifted(right, symbols)
    if any(side is NotImplemented for side in pair):
        return NotImplemented if kind != "==" else False
    first, second = pair
    if isinstance(first, float) and isinstance(second, float):
        return {"<": first < second, "<=": first <= second, "==": first == second}[kind]
    if isinstance(first, float) or isinstance(second, float):
        # every value of the input is finite
        return kind != "==" and (first < 0 if isinstance(first, float) else second > 0)
    difference = first - second
    if difference.degree == 0:
        value = difference.terms.get((), 0)
        return {"<": value < 0, "<=": value <= 0, "==": value == 0}[kind]
    under = under_root(first), under_root(second)
    if under[0] is not None and under[1] is not None:
        # roots keep the order
        first, second = under[0], under[1]
    return Condition(symbols, kind, first, second)
