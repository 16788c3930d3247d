"""The user's functions, compiled again so that ``if``, ``min``, ``sorted``, ``int`` and indices can meet symbols.

Nothing in them changes for plain values. For symbols

    if c: a = u          becomes   a = u where c holds, else what it was   (branches with plain assignments only)
    u if c else v        likewise;   ``not``, ``and``, ``or`` combine conditions
    min, max, sorted     leave names of ranks behind;   int, float, bool leave symbols as they are
    np.array, np.zeros   make arrays that can hold symbols; NumPy's and SciPy's functions take lists of symbols, too
    a_list[place]        whatever stands at that place of the list

Code objects are exchanged while a trace runs, and put back.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np

from kappaguard.rules.recipe.trace.array import Place, chosen_of, plain, symbols_in
from kappaguard.rules.recipe.trace.expression import Condition, Expression, family, least
from kappaguard.rules.recipe.trace.functions import merged
from kappaguard.rules.recipe.trace.refusal import TRACED_FILES, refuse

HELPER = "__kappaguard_trace__"
ABSENT = object()
DEPTH = 2
"""How many imports away from the rule code of the same package is compiled again."""


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
        if isinstance(key, Place) and isinstance(container, list | tuple):
            return standing(key, [container[value] for value in key.values])
        return container[key]

    @staticmethod
    def replaced(function: Any) -> Any:
        """Our version of a function that has one; any other as it is."""
        try:
            return STAND_INS.get(function) or Helper.table.get(function, function)
        except TypeError:
            return function


def standing(place: Place, parts: list[Any]) -> Any:
    """Whatever stands at a place: arrays and numbers entry by entry, lists and tuples item by item."""
    first = parts[0]
    if isinstance(first, np.ndarray | Expression | float) and not isinstance(first, bool):
        return chosen_of(place, [plain(part) for part in parts])
    if isinstance(first, list | tuple) and len({len(part) for part in parts}) == 1:
        found = [standing(place, [part[item] for part in parts]) for item in range(len(first))]
        return found if isinstance(first, list) else tuple(found)
    if isinstance(first, dict) and all(set(part) == set(first) for part in parts):
        return type(first)({key: standing(place, [part[key] for part in parts]) for key in first})
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
    if isinstance(test.left, Expression) and test.kind in ("<", "<="):
        found = _running(test, left, right)
        if found is not None:
            return found
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        from kappaguard.rules.recipe.trace.array import entrywise

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
    elif not isinstance(left, int | tuple | list | np.ndarray | Place) or isinstance(left, bool):
        return None
    elif isinstance(right, Place) and isinstance(right.rank, int):
        grows = right.rank > 0 and least(right.members, right.rank, False, symbols).key == test.left.key
    end = "greatest" if grows else "least"
    old, new = (test.left, test.right) if grows else (test.right, test.left)
    members = _members(old, end)
    if isinstance(right, Place) and isinstance(right.rank, int):
        if least(right.members, right.rank, False, symbols).key != old.key:
            return None
        members = right.members
    joined = (*members, new.key)
    rank = len(joined) - 1 if grows else 0
    if isinstance(left, Expression):
        found = least(joined, rank, False, symbols)
        GROWN[found.key] = (end, joined)
        return found.sqrt() if left.single("root") is not None else found
    if isinstance(right, Place) and right.rank == (len(members) - 1 if grows else 0):
        return Place(symbols, joined, rank, (*right.values, left))
    if len(members) == 1 and not isinstance(right, Place):
        return Place(symbols, joined, rank, (right, left))
    return None


def _bare(expression: Expression) -> Expression:
    """What is under a root."""
    description = expression.single("root")
    return expression if description is None else expression.symbols.expressions[description[1]]


def _members(expression: Expression, end: str) -> tuple[int, ...]:
    """The family whose least or greatest a loop has found this to be, in the order in which it grew."""
    kind, members = GROWN.get(expression.key, (end, (expression.key,)))
    return members if kind == end else (expression.key,)


GROWN: dict[int, tuple[str, tuple[int, ...]]] = {}


def _extreme(last: bool) -> Callable[..., Any]:
    builtin = max if last else min

    def extreme(*args: Any, key: Any = None, **options: Any) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        if not values:
            return builtin(*args, **options)
        scores = values if key is None else [key(value) for value in values]
        symbols = symbols_in(scores)
        if symbols is None:
            return builtin(values) if key is None else values[scores.index(builtin(scores))]
        members, rooted = family(scores, symbols)
        finite = sum(member >= 0 for member in members)
        rank = len(members) - 1 if last else 0
        if key is None:
            return least(members, rank, rooted, symbols)
        if last and finite < len(members):
            refuse("the greatest of infinite values")
        return standing(Place(symbols, members, rank, range(len(values))), values)

    return extreme


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    values = list(values)
    scores = values if key is None else [key(value) for value in values]
    symbols = symbols_in(scores)
    if symbols is None:
        return sorted(values, key=key, reverse=reverse)
    members, rooted = family(scores, symbols)
    ranks = range(len(values))[::-1] if reverse else range(len(values))
    if key is None:
        return [least(members, rank, rooted, symbols) for rank in ranks]
    return [standing(Place(symbols, members, rank, range(len(values))), values) for rank in ranks]


def _keeping(kind: Any, *kept: type) -> Callable[..., Any]:
    def convert(*args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], kept):
            return args[0]
        return kind(*args, **options)

    return convert


STAND_INS = {
    int: _keeping(int, Place, Condition),
    float: _keeping(float, Place, Condition, Expression),
    bool: _keeping(bool, Condition),
    min: _extreme(False),
    max: _extreme(True),
    sorted: _sorted,
}


class _Rewrite(ast.NodeTransformer):
    """The transformation of a module."""

    def __init__(self) -> None:
        self.count = 0
        self.inside = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.inside += 1
        self.generic_visit(node)
        self.inside -= 1
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self.inside += 1
        self.generic_visit(node)
        self.inside -= 1
        return node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        names = _assigned([*node.body, *node.orelse])
        if names is None or not self.inside:
            return node
        self.count += 1
        test, before, then = (f"_kappaguard_{word}_{self.count}" for word in ("test", "before", "then"))
        listed = repr(tuple(names))
        changed = tuple(each.target.id for each in (*node.body, *node.orelse) if isinstance(each, ast.AugAssign))  # type: ignore[union-attr]
        source = [f"{HELPER}.require_values(locals(), {changed!r})", f"{before} = {HELPER}.values(locals(), {listed})"]
        middle = [f"{then} = {HELPER}.values(locals(), {listed})"]
        middle += [f"{name} = {before}[{name!r}]" for name in names]
        end = [f"{name} = {HELPER}.merge({test}, {then}[{name!r}], {name})" for name in names]
        merging = [*_parsed(source), *node.body, *_parsed(middle), *node.orelse, *_parsed(end)]
        plain_if = ast.If(ast.Name(test, ast.Load()), node.body, node.orelse)
        assign = ast.Assign([ast.Name(test, ast.Store())], node.test)
        split = ast.If(_parsed([f"{HELPER}.undecided({test})"])[0].value, merging, [plain_if])  # type: ignore[attr-defined]
        for each in (assign, split):
            ast.copy_location(each, node)
            _located(each, node)
        return [assign, split]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return self._call(node, "choose", node.test, _lambda(node.body), _lambda(node.orelse))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return self._call(node, "negate", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            return node
        word = "both" if isinstance(node.op, ast.And) else "either"
        found = node.values[-1]
        for value in node.values[-2::-1]:
            found = self._call(node, word, value, _lambda(found))
        return found

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not self.inside or _has_slice(node.slice):
            return node
        return self._call(node, "get", node.value, node.slice)

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name | ast.Attribute) and self.inside:
            return ast.copy_location(
                ast.Call(self._call(node.func, "replaced", node.func), node.args, node.keywords), node
            )
        return node

    def _call(self, node: ast.AST, word: str, *args: ast.expr) -> ast.Call:
        found = ast.Call(ast.Attribute(ast.Name(HELPER, ast.Load()), word, ast.Load()), list(args), [])
        ast.copy_location(found, node)
        _located(found, node)
        return found


def _has_slice(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Slice) for each in ast.walk(node))


def _lambda(body: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def _located(node: ast.AST, origin: ast.AST) -> None:
    for each in ast.walk(node):
        if isinstance(each, ast.expr | ast.stmt | ast.arg) and not hasattr(each, "lineno"):
            ast.copy_location(each, origin)


def _parsed(lines: list[str]) -> list[ast.stmt]:
    body = ast.parse("\n".join(lines)).body
    for statement in body:
        for each in ast.walk(statement):
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if hasattr(each, name):
                    delattr(each, name)
    return body


def _assigned(statements: list[ast.stmt]) -> list[str] | None:
    """The names that plain assignments assign; None if there is any other statement."""
    names: list[str] = []
    for statement in statements:
        match statement:
            case ast.Pass():
                continue
            case ast.Assign(targets=targets):
                found = targets
            case ast.AugAssign() | ast.AnnAssign():
                found = [statement.target]
            case _:
                return None
        if any(_may_change(each) for each in ast.walk(statement)):
            return None
        for target in found:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            if not all(isinstance(part, ast.Name) for part in parts):
                return None
            names += [part.id for part in parts if isinstance(part, ast.Name) and part.id not in names]
    return names


CHANGING = {
    "sort",
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "fill",
    "put",
    "partition",
    "resize",
    "update",
}


def _may_change(node: ast.AST) -> bool:
    """Whether an expression may change something in place, which must not happen on both sides of a condition."""
    if isinstance(node, ast.NamedExpr):
        return True
    if not isinstance(node, ast.Call):
        return False
    named = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    plain_sort = named in ("sort", "partition") and isinstance(node.func, ast.Attribute) and _is_numpy(node.func.value)
    return (named in CHANGING and not plain_sort) or any(keyword.arg == "out" for keyword in node.keywords)


def _is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "torch")


def rewritten(source: str, file: str) -> CodeType:
    """The code of a module, compiled from its changed tree."""
    tree = _Rewrite().visit(ast.parse(source, file))
    return compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _functions_in(each)


def modules_of(targets: list[Any]) -> list[ModuleType]:
    """The modules that define the rule, and those of the same package that they import from."""
    found: list[ModuleType] = []
    names = {name for target in targets for name in _homes(target)}
    for _ in range(DEPTH):
        fresh = [sys.modules[name] for name in names if name in sys.modules and sys.modules[name] not in found]
        found += fresh
        names = set()
        for module in fresh:
            top = module.__name__.partition(".")[0]
            for value in list(vars(module).values()):
                home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
                if isinstance(home, str) and home.partition(".")[0] == top:
                    names.add(home)
    return found


def _homes(target: Any) -> list[str]:
    if inspect.isroutine(target):
        return [getattr(target, "__module__", None) or ""]
    cls = target if inspect.isclass(target) else type(target)
    skipped = ("builtins", "abc", "typing", "numpy", "torch", "collections", "functools", "kappaguard")
    return [base.__module__ for base in cls.__mro__ if base.__module__.partition(".")[0] not in skipped]


@contextmanager
def rewriting(targets: list[Any], table: dict[Any, Any]) -> Iterator[None]:
    """The functions of the rule's modules compiled anew, for a while; ``table`` has our versions of functions."""
    undo: list[Callable[[], None]] = []
    GROWN.clear()
    Helper.table = table
    setattr(builtins, HELPER, Helper)
    try:
        for module in modules_of(targets):
            TRACED_FILES.add(getattr(module, "__file__", None) or "")
            _rewrite(module, targets, undo)
        yield
    finally:
        for step in reversed(undo):
            step()
        delattr(builtins, HELPER)
        TRACED_FILES.clear()


def _rewrite(module: ModuleType, targets: list[Any], undo: list[Callable[[], None]]) -> None:
    try:
        source, file = inspect.getsource(module), inspect.getsourcefile(module) or ""
        code = rewritten(source, file)
    except (OSError, TypeError, SyntaxError, ValueError):
        return
    changed = {(each.co_qualname, each.co_firstlineno): each for each in _functions_in(code)}
    for function in _functions_of(module, targets):
        old = function.__code__
        new = changed.get((old.co_qualname, old.co_firstlineno))
        if new is not None and new.co_freevars == old.co_freevars:
            function.__code__ = new
            undo.append(lambda function=function, old=old: setattr(function, "__code__", old))  # type: ignore[misc]


def _functions_of(module: ModuleType, targets: list[Any]) -> Iterator[FunctionType]:
    """The functions and methods of a module, and what is wrapped in them."""
    for value in [*vars(module).values(), *targets, *(getattr(each, "__wrapped__", None) for each in targets)]:
        holder = vars(value).values() if inspect.isclass(value) and value.__module__ == module.__name__ else [value]
        for each in list(holder):
            function = getattr(each, "__func__", getattr(each, "fget", each))
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function
