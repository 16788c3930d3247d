"""The checker accepts proofs and nothing else: tampered certificates fail, whatever was touched."""

from __future__ import annotations

import ast
import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kappaguard as kg
from kappaguard.verify import checker
from kappaguard.verify.certified import krum, mda, multikrum, ordered
from kappaguard.verify.certified.rejected import Rejected
from kappaguard.verify.checker import check

pytestmark = pytest.mark.solver

RULES = ["cwtm", "cwmed", "meamed", "gm", "krum", "mda", "multikrum", "nnm+mda"]


@pytest.fixture(scope="module")
def certificates() -> dict[str, dict]:
    return {rule: json.loads(kg.exact(rule, n=7, f=2).certificate) for rule in RULES}


def rejected(data: dict) -> str:
    with pytest.raises(Rejected) as caught:
        check(json.dumps(data))
    return str(caught.value)


@pytest.mark.parametrize("rule", RULES)
def test_accepts(certificates, rule):
    seen = check(json.dumps(certificates[rule]))
    assert (seen.rule, seen.n, seen.f) == (rule, 7, 2)
    assert seen.upper == Fraction(certificates[rule]["upper"])


@pytest.mark.parametrize("rule", RULES)
def test_a_smaller_bound_is_refused(certificates, rule):
    data = copy.deepcopy(certificates[rule])
    data["upper"] = str(Fraction(data["upper"]) * Fraction(999_999, 1_000_000))
    rejected(data)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "gm"])
def test_a_missing_cell_is_refused(certificates, rule):
    for index in range(len(certificates[rule]["cells"])):
        data = copy.deepcopy(certificates[rule])
        del data["cells"][index]
        assert "missing" in rejected(data) or "are needed" in rejected(data)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "gm"])
def test_a_cell_twice_or_of_another_size_is_refused(certificates, rule):
    data = copy.deepcopy(certificates[rule])
    data["cells"].append(data["cells"][0])
    rejected(data)
    data = copy.deepcopy(certificates[rule])
    data["n"], data["f"] = 9, 3
    rejected(data)


@pytest.mark.parametrize("rule", ["krum", "mda", "multikrum"])
def test_the_multipliers_of_the_decisive_cell_matter(certificates, rule):
    touched = 0
    for index, cell in enumerate(certificates[rule]["cells"]):
        for name, value in cell["multipliers"].items():
            for changed in (Fraction(value) * Fraction(9, 10), Fraction(value) * Fraction(11, 10), -Fraction(value)):
                data = copy.deepcopy(certificates[rule])
                data["cells"][index]["multipliers"][name] = str(changed)
                try:
                    check(json.dumps(data))
                except Rejected:
                    touched += 1
    assert touched >= {"krum": 20, "mda": 10, "multikrum": 5}[rule]


@pytest.mark.parametrize("rule", ["cwtm", "cwmed", "meamed"])
def test_every_run_matters(certificates, rule):
    for index, cell in enumerate(certificates[rule]["cells"]):
        for place, (_count, value) in enumerate(cell["runs"]):
            for change in (Fraction(1, 1000), Fraction(-1, 1000)):
                data = copy.deepcopy(certificates[rule])
                data["cells"][index]["runs"][place][1] = str(Fraction(value) + change)
                rejected(data)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "kappaguard-certificate/2"},
        {"criterion": "spectral"},
        {"rule": "average"},
        {"rule": ["krum"]},
        {"n": 7.0},
        {"n": True},
        {"f": 4},
        {"f": -1},
        {"upper": "1/0"},
        {"upper": 100},
        {"upper": "-1"},
        {"upper": "1e9"},
        {"cells": {}},
        {"cells": [1]},
        {"cells": [{"cell": [[]], "multipliers": {}}]},
        {"cells": [{"cell": ["honest", 4, 0], "multipliers": {"near>y": "x"}}]},
    ],
    ids=str,
)
def test_malformed(certificates, change):
    rejected({**certificates["krum"], **change})


def test_a_key_that_comes_twice_or_is_unknown(certificates):
    text = json.dumps(certificates["krum"])
    for changed in (
        text.replace('{"schema"', '{"upper": "1/1000", "schema"'),
        text.replace('{"schema"', '{"a": 1, "schema"'),
    ):
        with pytest.raises(Rejected):
            check(changed)


@pytest.mark.parametrize("rule", ["krum", "mda", "multikrum"])
def test_a_short_file_cannot_ask_for_a_long_list(certificates, rule):
    rejected({**certificates[rule], "n": 100_000, "f": 33_333, "cells": []})


@pytest.mark.parametrize("module", [krum, mda, multikrum], ids=lambda module: module.__name__.rpartition(".")[2])
def test_cells_are_counted_right(module):
    for n in range(2, 14):
        for f in range((n + 1) // 2):
            assert module.count(n, f) == len(module.cells(n, f))
    assert all(
        multikrum.divided_count(n, f) == len(multikrum.divided_cells(n, f))
        for n in range(3, 18)
        for f in range(1, (n + 1) // 2)
    )


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=60) | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(json.dumps)
)
def test_any_text_is_checked_or_rejected(text):
    with pytest.raises(Rejected):
        check(text)


@pytest.mark.parametrize(("n", "f"), [(5, 1), (5, 2), (8, 3)])
def test_cells_cover_every_input(n, f):
    """Counted by hand: the composition of a neighbourhood of n - f vectors, the choice of a subset and a pair."""
    found = {
        (who, n - f - 1 - p, p)
        for who, honest, byzantine in (("byzantine", n - f, f - 1), ("honest", n - f - 1, f))
        for p in range(byzantine + 1)
        for q in range(honest + 1)
        if p + q == n - f - 1
    }
    assert krum.cells(n, f) == found
    assert {key[0] for key in mda.cells(n, f)} == set(range(f + 1))
    assert ordered.cells("meamed", f) == {(q,) for q in range(f + 1)}


def test_the_checker_imports_no_finder():
    """Neither the checker nor what it imports of ours touches a solver, the search or the rules."""
    root = Path(checker.__file__).parent
    files = [root / "checker.py", root / "exact_numbers.py", *sorted((root / "certified").glob("*.py"))]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not name.startswith(("cvxpy", "numpy", "kappaguard.search", "kappaguard.rules")), (path, name)
