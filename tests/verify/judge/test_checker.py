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
from kappaguard.verify.judge import checker
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.rejected import Rejected

pytestmark = pytest.mark.solver

TREES = ["krum", "mda", "multikrum", "mva", "faba", "nna"]
CLOSED = {"cwtm": "2/3", "cwmed": "3/2", "gm": "3/2", "meamed": "16/5", "mda": "16/5", "nnm+cwmed": "16/5"}
"""kappa* at n = 7 and f = 2 by the closed forms in the README."""
ORDERED = ["cwtm", "cwmed", "meamed", "phocas", "winsorised", "nnm+cwmed", "nnm+meamed"]
RULES = [*TREES, *ORDERED, "gm"]


@pytest.fixture(scope="module")
def certificates() -> dict[str, dict]:
    found = {rule: json.loads(kg.exact(rule, n=7, f=2).certificate) for rule in RULES}
    found["multikrum"] = json.loads(kg.exact("multikrum", n=5, f=2).certificate)
    found["nnm+krum"] = json.loads(kg.exact("nnm+krum", n=5, f=1).certificate)
    return found


def rejected(data: dict) -> str:
    with pytest.raises(Rejected) as caught:
        check(json.dumps(data))
    return str(caught.value)


def accepted(data: dict) -> bool:
    try:
        check(json.dumps(data))
    except Rejected:
        return False
    return True


@pytest.mark.parametrize("rule", RULES)
def test_accepts(certificates, rule):
    seen = check(json.dumps(certificates[rule]))
    assert (seen.rule, seen.n, seen.f) == (rule, *((5, 2) if rule == "multikrum" else (7, 2)))
    if rule in CLOSED:
        assert float(seen.upper) == pytest.approx(float(Fraction(CLOSED[rule])), rel=1e-6)


@pytest.mark.parametrize("rule", [*RULES, "nnm+krum"])
def test_a_smaller_bound_is_refused(certificates, rule):
    data = copy.deepcopy(certificates[rule])
    data["upper"] = str(Fraction(data["upper"]) * Fraction(999_998, 1_000_000))
    rejected(data)


@pytest.mark.parametrize("rule", [*TREES, "nnm+krum"])
def test_a_missing_case_is_refused(certificates, rule):
    """A disjunction without one of its cases is not exhaustive; the same case twice does not make up for it."""
    divided = [(i, node) for i, node in enumerate(certificates[rule]["nodes"]) if len(node.get("cases", [])) > 1]
    for index, _ in divided[:8]:
        data = copy.deepcopy(certificates[rule])
        del data["nodes"][index]["cases"][-1]
        rejected(data)
        data["nodes"][index]["cases"].append(copy.deepcopy(data["nodes"][index]["cases"][0]))
        rejected(data)


@pytest.mark.parametrize("rule", ORDERED)
def test_a_missing_cell_is_refused(certificates, rule):
    for index in range(len(certificates[rule]["nodes"])):
        data = copy.deepcopy(certificates[rule])
        del data["nodes"][index]
        assert "are needed" in rejected(data)


@pytest.mark.parametrize("rule", [*TREES, "nnm+krum"])
def test_multipliers_matter(certificates, rule):
    """Negative ones are refused everywhere; a tenth more or less breaks a proof that is tight."""
    touched = 0
    for index, node in enumerate(certificates[rule]["nodes"]):
        for place, (_, value) in enumerate(node.get("multipliers", [])[:4]):
            data = copy.deepcopy(certificates[rule])
            data["nodes"][index]["multipliers"][place][1] = f"-{value}"
            assert "negative" in rejected(data)
            for factor in (Fraction(9, 10), Fraction(11, 10)):
                data["nodes"][index]["multipliers"][place][1] = str(Fraction(value) * factor)
                touched += not accepted(data)
        if index > 24:
            break
    assert touched >= 1


@pytest.mark.parametrize("rule", [*TREES, "nnm+krum"])
def test_facts_matter(certificates, rule):
    """A leaf with one fact more than its parents gave it proves less than the root needs."""
    data = copy.deepcopy(certificates[rule])
    leaf = next(node for node in data["nodes"] if "multipliers" in node and node["facts"])
    leaf["facts"] = [["pick", 0, "0"]] if leaf["facts"][0][0] != "pick" else [*leaf["facts"], ["pair", 0, "0-1"]]
    rejected(data)


def test_a_wrong_permutation_is_refused(certificates):
    data = copy.deepcopy(certificates["nnm+krum"])
    merged = [case for node in data["nodes"] for case in node.get("cases", []) if case[2] is not None]
    assert merged
    for case in merged:
        kept = case[2]
        for names in (kept[::-1], [0] * 5, kept[:4], [4, 1, 2, 3, 0], None, "no"):
            if names == kept:
                continue
            case[2] = names
            refused = not accepted(data)
            case[2] = kept
            if refused:
                break
        else:
            pytest.fail("every permutation is taken")


def test_another_recipe_is_refused(certificates):
    changes = [
        ("krum", {"rounds": [{"keep": 1, "least": {"nearest": 3}}]}),
        ("krum", {"rounds": [{"keep": 1, "greatest": {"nearest": 4}}]}),
        ("krum", {"mixing": [5]}),
        ("mda", {"subset": {"size": 5, "least": "variance"}}),
        ("faba", {"rounds": [{"drop": 1, "least": "mean"}, {"drop": 1, "greatest": "mean"}]}),
    ]
    for rule, change in changes:
        data = copy.deepcopy(certificates[rule])
        data["recipe"] |= change
        rejected(data)
    for rule in TREES:
        data = copy.deepcopy(certificates[rule])
        data["f"] = 3
        rejected(data)


def test_an_untrusted_pivot_may_be_byzantine(certificates):
    data = copy.deepcopy(certificates["nna"])
    del data["recipe"]["trusted"]
    assert "Byzantine" in rejected(data)


def test_nodes_that_rest_on_each_other_are_refused(certificates):
    data = copy.deepcopy(certificates["krum"])
    data["nodes"][0]["cases"][0][0] = 0
    assert "circle" in rejected(data)


@pytest.mark.parametrize("rule", ["cwtm", "cwmed", "meamed", "nnm+cwmed"])
def test_every_run_matters(certificates, rule):
    for index, cell in enumerate(certificates[rule]["nodes"]):
        for place, (_count, value) in enumerate(cell["runs"]):
            for change in (Fraction(1, 1000), Fraction(-1, 1000)):
                data = copy.deepcopy(certificates[rule])
                data["nodes"][index]["runs"][place][1] = str(Fraction(value) + change)
                rejected(data)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "kappaguard-certificate/3"},
        {"criterion": "spectral"},
        {"rule": ["krum"]},
        {"recipe": None},
        {"recipe": {"schema": "kappaguard-recipe/1", "n": 7.0}},
        {"f": 4},
        {"f": -1},
        {"f": True},
        {"upper": "1/0"},
        {"upper": 100},
        {"upper": "-1"},
        {"upper": "1e9"},
        {"nodes": {}},
        {"nodes": []},
        {"nodes": [1]},
        {"nodes": [{"facts": [], "multipliers": [[["row", 0, 0, 1, 2], "1"]]}]},
        {"nodes": [{"facts": [["pick", 0, "99"]], "multipliers": []}]},
        {"nodes": [{"facts": [], "split": ["pick", 0], "cases": [[5, ["pick", 0, "0"], None]]}]},
        {"nodes": [{"facts": [], "split": ["pick", 0], "cases": [1]}]},
        {"nodes": [{"facts": [], "split": ["pick", 0], "cases": 1}]},
    ],
    ids=str,
)
def test_malformed(certificates, change):
    rejected({**certificates["krum"], **change})


def test_old_certificates_say_what_to_do():
    data = {"schema": "kappaguard-certificate/1", "rule": "krum", "n": 7, "f": 2, "criterion": "trace"}
    assert "kappaguard exact krum -n 7 -f 2" in rejected({**data, "upper": "9", "cells": []})


def test_a_key_that_comes_twice_or_is_unknown(certificates):
    text = json.dumps(certificates["krum"])
    for changed in (
        text.replace('{"schema"', '{"upper": "1/1000", "schema"', 1),
        text.replace('{"schema"', '{"a": 1, "schema"', 1),
    ):
        with pytest.raises(Rejected):
            check(changed)


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=60) | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(json.dumps)
)
def test_any_text_is_checked_or_rejected(text):
    with pytest.raises(Rejected):
        check(text)


def imports_of(path: Path) -> list[str]:
    """The modules that a file imports, at any depth of its code; what is imported from a package as one of them."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names


def test_the_checker_imports_no_finder():
    """Neither the checker nor what it imports of the judges touches a solver, floats, the search or the fast paths.

    Names are asked for the recipe that a rule of ours has: that is its definition.
    """
    root = Path(checker.__file__).parents[1]
    allowed = tuple(f"kappaguard.rules.{name}" for name in ("base.errors", "names", "recipe.recipe", "recipe.text"))
    waiting, seen = [Path(checker.__file__)], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in imports_of(path):
            inside = root.joinpath(*name.removeprefix("kappaguard.verify.").split(".")).with_suffix(".py")
            if name.startswith("kappaguard.verify.") and inside.is_file():
                waiting.append(inside)
            elif not name.startswith(allowed):
                assert not name.startswith(("cvxpy", "clarabel", "numpy", "kappaguard.search", "kappaguard.rules")), (
                    path
                )
    assert len(seen) > 8
