"""What rewritten code calls where it meets symbols: conditions, minima, and whatever stands at a rank."""

from __future__ import annotations

import heapq
import math
import statistics
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from kappaguard.rules.recipe.trace.array import (
    Chosen,
    SymbolicArray,
    chosen_of,
    flat,
    has_symbols,
    plain,
    symbolic,
    symbols_in,
)
from kappaguard.rules.recipe.trace.conditions import Condition
from kappaguard.rules.recipe.trace.expression import Expression
from kappaguard.rules.recipe.trace.functions import known_meaning_of, merged
from kappaguard.rules.recipe.trace.marks import Mark, are_different, marks
from kappaguard.rules.recipe.trace.order import family, least
from kappaguard.rules.recipe.trace.places import Ranked, Standing
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.summaries import stacked
from kappaguard.rules.recipe.trace.ufuncs import entrywise

ABSENT = object()


class Helper:
    """What rewritten code calls. ``table`` has our versions of library functions."""

    table: ClassVar[dict[Any, Any]] = {}

    @staticmethod
    def undecided(test: Any) -> bool:
        """Whether a test depends on the input."""
        return isinstance(test, Condition)

    @staticmethod
    def values(scope: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """The values of local names."""
        return {name: scope.get(name, ABSENT) for name in names}

    @staticmethod
    def require_values(scope: dict[str, Any], names: tuple[str, ...]) -> None:
        """Refuse to change something in place where it depends on the input whether it is changed."""
        if any(not isinstance(scope.get(name, 0), int | float | Expression) for name in names):
            refuse("an array is changed in place under a condition", "make a new one: y = y + ...")

    @staticmethod
    def merge(test: Condition, left: Any, right: Any) -> Any:
        """``left`` where the test holds, else ``right``."""
        return merge(test, left, right)

    @staticmethod
    def choose(test: Any, left: Callable[[], Any], right: Callable[[], Any]) -> Any:
        """``left() if test else right()``."""
        if isinstance(test, Condition):
            return merge(test, left(), right())
        return left() if test else right()

    @staticmethod
    def negate(test: Any) -> Any:
        """``not test``."""
        return ~test if isinstance(test, Condition) else not test

    @staticmethod
    def both(left: Any, right: Callable[[], Any]) -> Any:
        """``left and right()``."""
        if not isinstance(left, Condition):
            return right() if left else left
        return left & right()

    @staticmethod
    def either(left: Any, right: Callable[[], Any]) -> Any:
        """``left or right()``."""
        if not isinstance(left, Condition):
            return left if left else right()
        return left | right()

    @staticmethod
    def get(container: Any, key: Any) -> Any:
        """``container[key]``."""
        if isinstance(key, Ranked) and isinstance(container, list | tuple):
            return standing(key, [container[value] for value in key.values])
        if type(container) is np.ndarray and isinstance(key, Ranked):
            return _standing_in(container, key)
        if type(container) is np.ndarray and isinstance(key, SymbolicArray) and not has_symbols(key):
            return container[plain(key).astype(int)]
        return container[key]

    @staticmethod
    def contains(container: Any, item: Any) -> Any:
        """``item in container``."""
        inner = getattr(container, "array", container)
        if isinstance(item, int | np.integer) and isinstance(inner, list | tuple | np.ndarray):
            places = flat(inner)
            if any(isinstance(each, Ranked) for each in places):
                size = max([int(item), *(value for each in places for value in each.values)]) + 1
                return marks(places, [int(item)], size)[0]
        return item in container

    @staticmethod
    def filtered(pairs: list[tuple[Any, Callable[[], Any]]]) -> Any:
        """``[value for ... if condition]``."""
        if not any(isinstance(condition, Condition) for condition, _ in pairs):
            return [value() for condition, value in pairs if condition]
        values, conditions = [value() for _, value in pairs], [condition for condition, _ in pairs]
        rows = stacked([each.array if hasattr(each, "array") else each for each in values])
        whole = Chosen(symbolic(rows), _in_one_mask(conditions)).without_one()
        return [like(each, values[0]) for each in whole] if isinstance(whole, np.ndarray) else like(whole, values[0])

    @staticmethod
    def remove(container: Any, place: Any) -> None:
        """``del container[place]``."""
        if isinstance(place, Ranked) and type(container) is list:
            container[:] = without(container, place)
        else:
            del container[place]

    @staticmethod
    def pop(container: Any, place: Any) -> Any:
        """``container.pop(place)``."""
        if not isinstance(place, Ranked) or type(container) is not list:
            return container.pop(place)
        found = Helper.get(container, place)
        container[:] = without(container, place)
        return found

    @staticmethod
    def index(container: Any, *args: Any) -> Any:
        """``container.index(value)``: the place of the least or the greatest of a list is a rank."""
        symbols = symbols_in(container) if isinstance(container, list | tuple) and len(args) == 1 else None
        if symbols is None or not isinstance(args[0], Expression):
            return container.index(*args)
        members, rooted = family(container, symbols)
        for rank in (0, len(members) - 1):
            found = least(members, rank, rooted, symbols)
            if isinstance(found, Expression) and found.key == args[0].key:
                return Ranked(symbols, members, rank, range(len(members)))
        refuse("the place of a value in a list depends on the input", "use argmin, or sorted with a key")

    @staticmethod
    def sort(container: Any, *args: Any, **options: Any) -> Any:
        """``container.sort()``: of a list of symbols in place, else the container's own."""
        if type(container) is not list or args:
            return container.sort(*args, **options)
        container[:] = _sorted(container, **options)
        return None

    @staticmethod
    def replaced(function: Any) -> Any:
        """Our version of a function that has one; any other as it is."""
        try:
            return STAND_INS.get(function) or Helper.table.get(function, function)
        except TypeError:
            return function


def without(values: list[Any], place: Ranked) -> list[Any]:
    """A list after what stands at a place was removed from it."""
    bare = stacked([each.array if hasattr(each, "array") else each for each in values])
    return [like(each, values[0]) for each in known_meaning_of(np.delete)(bare, place, 0)]


def _in_one_mask(conditions: list[Any]) -> list[Any]:
    """Marks are those of a mask as long as the list."""
    found = [
        Mark(each.places, each.entry, len(conditions), each.inverted)
        if isinstance(each, Mark) and are_different(each.places, len(conditions))
        else each
        for each in conditions
    ]
    return found


def _standing_in(container: Any, place: Ranked) -> Any:
    """What stands at a place of a plain array; whole numbers stay places."""
    parts = [container[value] for value in place.values]
    if container.dtype.kind in "iu":
        return place.with_values([part.tolist() for part in parts])
    return chosen_of(place, parts)


def without_tensor(value: Any) -> Any:
    """The one value that a tensor without dimensions stands for; anything else as it is."""
    inner = getattr(value, "array", None) if type(value).__name__ == "SymbolicTensor" else None
    return inner[()] if isinstance(inner, np.ndarray) and inner.ndim == 0 else value


def like(value: Any, other: Any) -> Any:
    """A value as a tensor where another one is."""
    if type(other).__name__ != "SymbolicTensor" or type(value).__name__ == "SymbolicTensor":
        return value
    from kappaguard.rules.recipe.trace.tensors import tensor

    return tensor(value)


def standing(place: Ranked, parts: list[Any]) -> Any:
    """Whatever stands at a place: arrays and numbers entry by entry, lists and tuples item by item."""
    first = parts[0]
    if isinstance(first, np.ndarray | Expression | float) and not isinstance(first, bool):
        return chosen_of(place, [plain(part) for part in parts])
    if isinstance(first, list | tuple) and len({len(part) for part in parts}) == 1:
        found = [standing(place, [part[item] for part in parts]) for item in range(len(first))]
        return found if isinstance(first, list) else tuple(found)
    if isinstance(first, dict) and all(set(part) == set(first) for part in parts):
        return type(first)({key: standing(place, [part[key] for part in parts]) for key in first})
    if type(first).__name__ == "SymbolicTensor":
        return like(standing(place, [part.array for part in parts]), first)
    if hasattr(first, "chosen"):
        return first.chosen(place, parts)
    if all(type(part) is type(first) and part == first for part in parts):
        return first
    return place.with_values(parts)


def merge(test: Condition, left: Any, right: Any) -> Any:
    """``left`` where the test holds, else ``right``: the running minimum of a loop is recognised as such."""
    if left is right:
        return left
    if left is ABSENT or right is ABSENT:
        refuse("a name is assigned in one branch only", "assign it before the condition")
    bare = without_tensor(left), without_tensor(right)
    if bare[0] is not left or bare[1] is not right:
        return like(merge(test, *bare), left if bare[0] is not left else right)
    if test.kind in ("<", "<=") and isinstance(test.left, Expression):
        found = _running(test, left, right)
        if found is not None:
            return found
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return entrywise(lambda a, b: merged(test, a, b), left, right)
    if isinstance(left, int | float | Expression) and isinstance(right, int | float | Expression):
        return merged(test, left, right)
    refuse("what is chosen depends on a comparison", "use min(..., key=...), argmin, or a loop that keeps the least")


def _running(test: Condition, left: Any, right: Any) -> Any:
    """The step of a loop that keeps the least, or the greatest, of a growing family; None if it is none.

    In ``if new < best`` the test's left side joins the family whose least its right side is; in ``if best < new`` the
    right side joins the family whose greatest the left one is.
    """
    symbols = test.symbols
    grows = _members(test.left, "greatest") != (test.left.key,)
    if isinstance(left, Expression) and isinstance(right, Expression):
        keys = _bare(left).key, _bare(right).key
        if keys not in ((test.left.key, test.right.key), (test.right.key, test.left.key)):
            return None
        grows = keys[0] == test.right.key
    elif not isinstance(left, int | tuple | list | np.ndarray | Ranked) or isinstance(left, bool):
        return None
    elif isinstance(right, Ranked) and isinstance(right.rank, int):
        grows = right.rank > 0 and least(right.members, right.rank, False, symbols).key == test.left.key
    end = "greatest" if grows else "least"
    old, new = (test.left, test.right) if grows else (test.right, test.left)
    members = _members(old, end)
    if isinstance(right, Ranked) and isinstance(right.rank, int):
        if least(right.members, right.rank, False, symbols).key != old.key:
            return None
        members = right.members
    joined = (*members, new.key)
    rank = len(joined) - 1 if grows else 0
    if isinstance(left, Expression):
        found = least(joined, rank, False, symbols)
        GROWN[found.key] = (end, joined)
        return found.sqrt() if left.single("root") is not None else found
    if isinstance(right, Ranked) and right.rank == (len(members) - 1 if grows else 0):
        return Ranked(symbols, joined, rank, (*right.values, left))
    if len(members) == 1 and not isinstance(right, Ranked):
        return Ranked(symbols, joined, rank, (right, left))
    return None


def _bare(expression: Expression) -> Expression:
    """The expression under a square root."""
    description = expression.single("root")
    return expression if description is None else expression.symbols.expressions[description[1]]


def _members(expression: Expression, end: str) -> tuple[int, ...]:
    """The family whose least or greatest a loop has found this to be, in the order in which it grew."""
    kind, members = GROWN.get(expression.key, (end, (expression.key,)))
    return members if kind == end else (expression.key,)


GROWN: dict[int, tuple[str, tuple[int, ...]]] = {}


def _leading(scores: list[Any]) -> tuple[list[Any], bool]:
    """What decides the order, and whether it is the first of tuples: (score, index), where indices break ties."""
    scores = [(without_tensor(each[0]), *each[1:]) if isinstance(each, tuple) and each else each for each in scores]
    pairs = all(isinstance(each, tuple) and len(each) > 1 and isinstance(each[0], Expression) for each in scores)
    if not pairs or not all(isinstance(each[1], int | str) for each in scores):
        return scores, False
    if len({each[1] for each in scores}) < len(scores):
        refuse("tuples are ordered by more than their first two parts", "put the place behind the score")
    return [each[0] for each in scores], True


def _extreme(last: bool) -> Callable[..., Any]:
    builtin = max if last else min

    def extreme(*args: Any, key: Any = None, **options: Any) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        if not values:
            return builtin(*args, **options)
        scores = [without_tensor(value if key is None else key(value)) for value in values]
        symbols = symbols_in(scores)
        if symbols is None:
            return builtin(values) if key is None else values[scores.index(builtin(scores))]
        scores, pairs = _leading(scores)
        members, rooted = family(scores, symbols)
        finite = sum(member >= 0 for member in members)
        rank = len(members) - 1 if last else 0
        if key is None and not pairs:
            return like(least(members, rank, rooted, symbols), values[0])
        if last and finite < len(members):
            refuse("the greatest of infinite values")
        return standing(Ranked(symbols, members, rank, range(len(values))), values)

    return extreme


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    values = list(values)
    scores = [without_tensor(value if key is None else key(value)) for value in values]
    symbols = symbols_in(scores)
    if symbols is None:
        return sorted(values, key=key, reverse=reverse)
    scores, pairs = _leading(scores)
    members, rooted = family(scores, symbols)
    ranks = range(len(values))[::-1] if reverse else range(len(values))
    if key is None and not pairs:
        return [like(least(members, rank, rooted, symbols), values[0]) for rank in ranks]
    return [standing(Ranked(symbols, members, rank, range(len(values))), values) for rank in ranks]


def _keeping(kind: Any, *kept: type) -> Callable[..., Any]:
    def convert(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], kept):
            return args[0]
        return kind(*args, **options)

    return convert


def _set(*args: Any) -> Any:
    """A set of places is only looked through: a list will do."""
    return list(args[0]) if args and has_symbols(list(args[0])) else set(*args)


def _sum(values: Any, start: Any = 0) -> Any:
    return start + values.sum(0) if isinstance(values, Chosen) else sum(values, start)


def _nsmallest(last: bool) -> Callable[..., Any]:
    def taken(count: int, values: Any, key: Any = None) -> Any:
        return _sorted(values, key=key, reverse=last)[:count]

    return taken


def _distance(p: Any, q: Any) -> Any:
    symbols = symbols_in(p, q)
    return math.dist(p, q) if symbols is None else np.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


def _of_list(function: Any, meaning: Any) -> Callable[..., Any]:
    def call(values: Any, *args: Any, **options: Any) -> Any:
        values = values if isinstance(values, np.ndarray | list | tuple) else list(values)
        return meaning(stacked(values)) if has_symbols(values) else function(values, *args, **options)

    return call


def _square_root(value: Any) -> Any:
    return value.sqrt() if isinstance(value, Expression) else math.sqrt(value)


STAND_INS: dict[Any, Any] = {
    set: _set,
    frozenset: _set,
    sum: _sum,
    heapq.nsmallest: _nsmallest(False),
    heapq.nlargest: _nsmallest(True),
    math.dist: _distance,
    math.sqrt: _square_root,
    math.fsum: _of_list(math.fsum, lambda values: values.sum()),
    statistics.median: _of_list(statistics.median, known_meaning_of(np.median)),
    statistics.mean: _of_list(statistics.mean, lambda values: values.mean()),
    statistics.fmean: _of_list(statistics.fmean, lambda values: values.mean()),
    int: _keeping(int, Ranked, Condition, Standing),
    float: _keeping(float, Ranked, Condition, Expression),
    bool: _keeping(bool, Condition),
    min: _extreme(False),
    max: _extreme(True),
    sorted: _sorted,
}
