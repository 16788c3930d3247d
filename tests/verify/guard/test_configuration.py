"""The section of pyproject.toml: what it means, and that whatever is wrong with it is one line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.claim_check import EVALUATIONS
from kappaguard.verify.guard.configuration import find, from_toml, read


def section(text):
    return from_toml(f"[tool.kappaguard]\n{text}")


def test_everything_that_can_be_said():
    found = section(
        'grid = [[17, 4]]\nevaluations = 200\nseed = 7\ntimeout = 60.5\nmemory = 512\njobs = 3\nwitnesses = "kept"\n'
        'rules = ["krum", {rule = "a.b:C", claim = 1.5, grid = [[5, 1], [7, 2]], evaluations = 9, tolerance = 0.5,'
        " rotates = true}]\n"
    )
    assert (found.jobs, found.seed) == (3, 7)
    first, second, third = (order.claim_check for order in found.checks)
    assert (first.rule, first.n, first.f, first.claim, first.evaluations, first.seed) == ("krum", 17, 4, None, 200, 7)
    assert [(each.n, each.f) for each in (second, third)] == [(5, 1), (7, 2)]
    assert (second.claim, second.evaluations, second.tolerance, second.rotates) == (1.5, 9, Fraction(1, 2), True)
    assert {order.witnesses for order in found.checks} == {Path("kept")}
    assert {(order.limits.seconds, order.limits.memory) for order in found.checks} == {(60.5, 512 << 20)}


def test_tables_and_defaults():
    found = from_toml('[[tool.kappaguard.rules]]\nrule = "krum"\ngrid = [[5, 1]]\n')
    (order,) = found.checks
    assert (order.claim_check.evaluations, order.claim_check.seed, found.jobs) == (EVALUATIONS, 0, None)
    assert order.witnesses == Path(".kappaguard/witnesses")


def test_the_command_line_has_the_last_word():
    text = (
        "[tool.kappaguard]\ngrid = [[5, 1]]\nevaluations = 200\nseed = 7\n"
        'rules = ["krum", {rule = "gm", evaluations = 9}]\n'
    )
    assert {order.claim_check.evaluations for order in from_toml(text, 5, 8).checks} == {5}
    assert {order.claim_check.seed for order in from_toml(text, 5, 8).checks} == {8}
    assert [order.claim_check.evaluations for order in from_toml(text).checks] == [200, 9]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('rules = ["krum"]', "no grid for krum"),
        ("grid = [[5, 1]]", "rules must be a list"),
        ("grid = [[5, 1]]\nrules = []", "there is nothing to check"),
        ("grid = [[5, 1]]\nrules = [3]", "a name or a table"),
        ('grid = [[5, 1]]\nrules = [{claim = "1"}]', "a name or a table"),
        ('grid = [[5, 1, 2]]\nrules = ["krum"]', "a pair"),
        ('grid = 5\nrules = ["krum"]', "grid must be a list"),
        ('grid = [[5.0, 1]]\nrules = ["krum"]', "n must be an integer"),
        ('grid = [[5, -1]]\nrules = ["krum"]', "f must be an integer"),
        ('grid = [[true, 1]]\nrules = ["krum"]', "n must be an integer"),
        ('gird = [[5, 1]]\nrules = ["krum"]', "did you mean grid"),
        ('grid = [[5, 1]]\nrules = [{rule = "krum", clam = "1"}]', "did you mean claim"),
        ('grid = [[5, 1]]\nrules = [{rule = "krum", claim = []}]', "claim of krum"),
        ('grid = [[5, 1]]\nrules = [{rule = "krum", tolerance = 1}]', "tolerance of krum"),
        ('grid = [[5, 1]]\nrules = [{rule = "krum", rotates = 1}]', "rotates of krum"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nevaluations = 0', "evaluations"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nevaluations = inf', "evaluations"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nbudget = 3', "counted in evaluations now"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nstrict = 1', "strict"),
        ('grid = [[5, 1]]\nrules = ["krum"]\ntolerance = 2', "tolerance"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nseed = "a"', "seed"),
        ('grid = [[5, 1]]\nrules = ["krum"]\njobs = 0', "jobs"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nmemory = 1', "memory"),
        ('grid = [[5, 1]]\nrules = ["krum"]\ntimeout = nan', "timeout"),
        ('grid = [[5, 1]]\nrules = ["krum"]\nwitnesses = 3', "witnesses"),
        ("=", "not TOML"),
    ],
)
def test_what_is_wrong_is_told(text, said):
    with pytest.raises(InputError, match=said):
        section(text)


@pytest.mark.parametrize("text", ["", "[tool]\nx = 1", "tool = 3", "[tool]\nkappaguard = 3"])
def test_no_section(text):
    with pytest.raises(InputError, match=r"no section \[tool.kappaguard\]"):
        from_toml(text)


def test_too_many():
    grid = ", ".join(["[5, 1]"] * 101)
    names = ", ".join(['"krum"'] * 100)
    with pytest.raises(InputError, match="10100 checks"):
        section(f"grid = [{grid}]\nrules = [{names}]")


def test_files(tmp_path):
    with pytest.raises(InputError, match="right here"):
        find(tmp_path)
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xff")
    assert find(tmp_path) == path
    with pytest.raises(InputError, match="UTF-8"):
        read(path)
    path.write_text("#" * (4 << 20) + "\n")
    with pytest.raises(InputError, match="larger"):
        read(path)
    path.write_text("[tool.kappaguard]\nrules = 1\n")
    with pytest.raises(InputError, match=r"pyproject.toml: rules must be a list"):
        read(path)
