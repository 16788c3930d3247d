"""One word for one thing: no class has the name of another."""

from __future__ import annotations

import ast
from collections import defaultdict

ROOMS = ("rules", "search", "training", "verify", "reports", "src/kappaguard")


def test_no_class_name_stands_in_two_modules(repository):
    places = defaultdict(list)
    for room in ROOMS:
        for module in (repository / room).rglob("*.py"):
            inside = module.relative_to(repository)
            if room == "src/kappaguard" and inside.parts[2] in ROOMS:
                continue
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(inside))
    assert len(places) > 200
    assert {name: found for name, found in places.items() if len(set(found)) > 1} == {}
