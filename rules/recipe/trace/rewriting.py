"""The user's functions, compiled again so that ``if``, ``min``, ``sorted``, ``int`` and indices can meet symbols.

Nothing in them changes for plain values. For symbols

    if c: a = u          becomes   a = u where c holds, else what it was   (branches with plain assignments only)
    u if c else v        likewise;   ``not``, ``and``, ``or`` combine conditions
    min, max, sorted     leave names of ranks behind;   int, float, bool leave symbols as they are
    np.array, np.zeros   make arrays that can hold symbols; NumPy's and SciPy's functions take lists of symbols, too
    a_list[place]        whatever stands at that place of the list;   a_list.sort() leaves names of ranks in it
    a_list.pop(place)    the others, in their order, are left in it;   del a_list[place] likewise
    i in places          whether an entry is among places that depend on the input
    [u for i in v if c]  the values for which c holds: how many may be left open, their mean and sum are known

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
from typing import Any

from kappaguard.rules.recipe.trace.merging import GROWN, Helper
from kappaguard.rules.recipe.trace.refusal import TRACED_FILES

HELPER = "__kappaguard_trace__"
DEPTH = 3
"""How many imports away from the rule code of the same package is compiled again."""


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

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn) or not self.inside:
            return node
        found = self._call(node, "contains", node.comparators[0], node.left)
        return found if isinstance(node.ops[0], ast.In) else self._call(node, "negate", found)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        self.generic_visit(node)
        if len(node.generators) != 1 or len(node.generators[0].ifs) != 1 or not self.inside:
            return node
        (each,) = node.generators
        names = [part.id for part in ast.walk(each.target) if isinstance(part, ast.Name)]
        test = each.ifs.pop()
        if any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield) for part in ast.walk(node)):
            each.ifs.append(test)
            return node
        later = _lambda(node.elt)
        later.args.kwonlyargs = [ast.arg(name) for name in names]
        later.args.kw_defaults = [ast.Name(name, ast.Load()) for name in names]
        node.elt = ast.Tuple([test, later], ast.Load())
        _located(node, node)
        return self._call(node, "filtered", node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or not self.inside or _has_slice(node.slice):
            return node
        return self._call(node, "get", node.value, node.slice)

    def visit_Delete(self, node: ast.Delete) -> Any:
        self.generic_visit(node)
        match node.targets:
            case [ast.Subscript(value=value, slice=place)] if self.inside and not _has_slice(place):
                return ast.copy_location(ast.Expr(self._call(node, "remove", value, place)), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "index" and self.inside and not node.keywords:
            return self._call(node, "index", node.func.value, *node.args)
        match node.func:
            case ast.Attribute(value=value, attr="pop") if self.inside and len(node.args) == 1 and not node.keywords:
                return self._call(node, "pop", value, *node.args)
            case ast.Attribute(value=value, attr="sort") if self.inside and not _is_numpy(value):
                found = self._call(node, "sort", value, *node.args)
                found.keywords = node.keywords
                return found
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
