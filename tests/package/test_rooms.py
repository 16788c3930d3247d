"""Data flows one way: a room imports only rooms that stand before it."""

from __future__ import annotations

import ast

import pytest

ORDER = ("rules", "search", "training", "verify", "reports")


def imported_by(source: str) -> set[str]:
    """The rooms of kappaguard that a module imports, at any depth of its code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("kappaguard.")}


def test_imports_are_seen():
    source = "import kappaguard.search\ndef use():\n from kappaguard import verify\n from kappaguard.rules import a"
    assert imported_by(source) == {"search", "verify", "rules"}


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_rooms_before_it(repository, room):
    allowed = set(ORDER[: ORDER.index(room) + 1])
    for module in (repository / room).rglob("*.py"):
        surplus = imported_by(module.read_text()) - allowed
        assert not surplus, f"{module.relative_to(repository)} imports {sorted(surplus)}"
