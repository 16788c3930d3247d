"""Families of expressions in order: what has a rank, what stands beside it, and what is never negative."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import (
    Expression,
    Monomial,
    Rank,
    Symbols,
    atom,
    constant,
    lifted,
    of_key,
    under_root,
)
from kappaguard.rules.recipe.trace.refusal import refuse


def family(values: Iterable[Any], symbols: Symbols) -> tuple[tuple[int, ...], bool]:
    """Values that are to be ordered, as keys, and whether roots were taken off; -1 is infinity.

    Roots keep the order: where all are multiples of roots by one positive factor, their squares are ordered instead.
    """
    found: list[Expression | None] = []
    for value in values:
        each = lifted(value.indicator() if isinstance(value, Condition) else value, symbols)
        if each is NotImplemented:
            refuse(f"a {type(value).__name__} is compared with numbers")
        if isinstance(each, float):
            if each < 0:
                refuse("minus infinity is sorted with values of the input")
            found.append(None)
        else:
            found.append(each)
    inner = [None if each is None else under_root(each) for each in found]
    rooted = all(each is None or under is not None for each, under in zip(found, inner, strict=True))
    if rooted and any(each is not None and not each.is_zero for each in found):
        return tuple(-1 if under is None else under.key for under in inner), True
    return tuple(-1 if each is None else each.key for each in found), False


def least(members: tuple[int, ...], rank: Rank, rooted: bool, symbols: Symbols) -> Any:
    """The value at a rank of a family; infinity beyond its finite members."""
    finite = tuple(sorted(member for member in members if member >= 0))
    if rank == -1 or (isinstance(rank, int) and rank >= len(finite)):
        return math.inf
    finite, rank = _after_removal(finite, finite, rank, symbols)[0::2]
    if rank in (0, len(finite) - 1):
        finite, rank = _of_one_level(finite, rank != 0, symbols)
    if len(set(finite)) == 1:
        found = of_key(symbols, finite[0])
    else:
        found = atom(symbols, "least", finite, rank)
        if rank in (0, len(finite) - 1):
            symbols.extremes[found.key, rank != 0] = finite
        zero = constant(0, symbols).key
        if rank == 0 and zero in finite and all(is_nonnegative(of_key(symbols, key)) for key in finite):
            found = constant(0, symbols)
    return found.sqrt() if rooted else found


def _of_one_level(members: tuple[int, ...], greatest: bool, symbols: Symbols) -> tuple[tuple[int, ...], int]:
    """The greatest of values among which is the greatest of others is that of all; likewise the least."""
    found = set(members)
    for member in members:
        inner = symbols.extremes.get((member, greatest))
        if inner is not None:
            found.remove(member)
            found.update(inner)
    zero = constant(0, symbols).key
    if greatest and len(found) > 1 and zero in found and all(is_nonnegative(of_key(symbols, key)) for key in found):
        found.discard(zero)
    return tuple(sorted(found)), len(found) - 1 if greatest else 0


def _after_removal(
    members: tuple[int, ...], beside: tuple[int, ...], rank: Rank, symbols: Symbols
) -> tuple[tuple[int, ...], tuple[int, ...], Rank]:
    """A rank among scores of which one was removed by its rank, as a rank among all of them."""
    first, second = of_key(symbols, members[0]).single("rest"), of_key(symbols, beside[0]).single("rest")
    if first is None or second is None or not isinstance(rank, int) or first[1] != first[4]:
        return members, beside, rank
    rests = [of_key(symbols, member).single("rest") for member in members]
    others = [of_key(symbols, key).single("rest") for key in beside]
    for one, other in zip(rests, others, strict=True):
        if one is None or other is None or one[3] != other[3]:
            return members, beside, rank
        if one[1:3] != first[1:3] or other[1:3] != first[1:3] or one[4] != first[4] or other[4] != second[4]:
            return members, beside, rank
    if len({one[3] for one in rests if one is not None}) != len(first[1]) - 1:
        return members, beside, rank
    return _after_removal(first[1], second[4], rank if rank < first[2] else rank + 1, symbols)


def standing_at(members: tuple[int, ...], rank: Rank, beside: tuple[Any, ...], symbols: Symbols) -> Any:
    """What stands beside the member at a rank: its pairs sorted, so that the order of writing does not matter."""
    pairs = [(member, lifted(value, symbols)) for member, value in zip(members, beside, strict=True) if member >= 0]
    if not pairs or (isinstance(rank, int) and rank >= len(pairs)):
        refuse("something infinitely far is selected")
    if all(isinstance(value, Expression) and value.key == pairs[0][1].key for _, value in pairs):
        return pairs[0][1]
    for _, value in pairs:
        if not isinstance(value, Expression):
            refuse("a selection is made from values that are not all finite numbers")
    if all(value.key == member for member, value in pairs):
        return least(members, rank, False, symbols)
    symbols.weights = symbols.weights or all(not value.degree for _, value in pairs)
    ordered = sorted((member, value.key) for member, value in pairs)
    by_member, standing = tuple(member for member, _ in ordered), tuple(key for _, key in ordered)
    names, values, place = _after_removal(by_member, standing, rank, symbols)
    return atom(symbols, "at", *_sorted_pairs(names, place, values))


def _sorted_pairs(members: tuple[int, ...], rank: Rank, beside: tuple[int, ...]) -> tuple[Any, ...]:
    ordered = sorted(zip(members, beside, strict=True))
    return tuple(m for m, _ in ordered), rank, tuple(v for _, v in ordered)


def is_nonnegative(expression: Expression) -> bool:
    """Whether it can be seen to be >= 0: positive multiples of roots, of order statistics of such, and of squares."""
    signs = expression.symbols.signs
    if expression.key not in signs:
        signs[expression.key] = _is_nonnegative(expression)
    return signs[expression.key]


def _is_nonnegative(expression: Expression) -> bool:
    symbols = expression.symbols
    squares: dict[Monomial, int] = {}
    for monomial, value in expression.terms.items():
        kinds = [symbols.atoms[each][0] for each in monomial]
        if monomial == () or all(kind in ("root", "holds") for kind in kinds):
            if value < 0:
                return False
        elif len(monomial) == 1 and kinds[0] == "least":
            members = symbols.atoms[monomial[0]][1]
            if value < 0 or not all(is_nonnegative(of_key(symbols, member)) for member in members):
                return False
        elif len(monomial) == 2:
            squares[monomial] = value
        else:
            return False
    return _is_semidefinite(squares)


def _is_semidefinite(squares: dict[Monomial, int]) -> bool:
    """Whether a quadratic form is never negative, by elimination in fractions."""
    names = sorted({name for monomial in squares for name in monomial})
    place = {name: index for index, name in enumerate(names)}
    matrix = [[Fraction(0)] * len(names) for _ in names]
    for (first, second), value in squares.items():
        i, j = place[first], place[second]
        if i == j:
            matrix[i][i] += value
        else:
            matrix[i][j] += Fraction(value, 2)
            matrix[j][i] += Fraction(value, 2)
    for pivot in range(len(names)):
        size = matrix[pivot][pivot]
        if size < 0 or (size == 0 and any(matrix[pivot][pivot:])):
            return False
        if size:
            for row in range(pivot + 1, len(names)):
                factor = matrix[row][pivot] / size
                if factor:
                    for column in range(pivot, len(names)):
                        matrix[row][column] -= factor * matrix[pivot][column]
    return True
