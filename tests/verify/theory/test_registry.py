"""The list of claims: complete, without doubles, and light to import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.verify.theory import registry
from kappaguard.verify.theory.registry import FRAMEWORK, claims, claims_of, modules, papers, rests_on

FOLDER = Path(registry.__file__).parent
PAPER = "fixing-by-mixing"


def test_every_file_is_listed_once():
    assert {path.stem for path in FOLDER.glob("*.py")} - {"__init__"} == set(FRAMEWORK)
    assert PAPER in papers()
    for paper in papers():
        listed = modules(paper)
        folder = FOLDER / "packs" / paper.replace("-", "_")
        assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(listed)
        assert len(listed) == len(set(listed))


def test_a_pack_that_is_not_there():
    assert sorted(claim.name for claim in claims()) == sorted(each.name for paper in papers() for each in claims(paper))
    with pytest.raises(InputError, match="fixing-by-mixing"):
        claims("mixing-by-fixing")


def test_no_claim_rests_on_itself_or_on_what_fails():
    verdicts = {claim.name: claim.expected for claim in claims()}

    def below(name, above=()):
        assert name not in above, f"{name} rests on itself"
        assert verdicts[name] == "proved", f"{above[-1:]} rests on {name}, which is {verdicts[name]}"
        for used in rests_on().get(name, ()):
            below(used, (*above, name))

    for name in rests_on():
        below(name)


def test_names_are_unique_and_can_be_file_names():
    names = [claim.name for claim in claims()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_a_statement_is_one_line_and_has_a_source():
    for claim in claims():
        assert "\n" not in claim.statement
        assert claim.statement
        assert claim.source


def test_a_correction_is_proved_and_names_what_it_corrects():
    verdicts = {claim.name: claim.expected for claim in claims()}
    for claim in claims():
        if claim.corrects is not None:
            assert verdicts[claim.corrects] == "refuted"
            assert claim.expected != "refuted"


@pytest.mark.parametrize(("paper", "module"), [(paper, module) for paper in papers() for module in modules(paper)])
def test_the_docstring_has_its_parts_in_order(paper, module):
    path = FOLDER / "packs" / paper.replace("-", "_") / f"{module}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    places = [text.find(part) for part in ("Problem:", "Statement", "Computed:", "Reference:")]
    assert -1 not in places
    assert places == sorted(places)


def test_a_module_may_hold_one_claim_or_several():
    assert len(claims_of("pivot")) == 1
    assert len(claims_of("nnm")) == 3


def test_listing_the_claims_imports_nothing_heavy():
    code = (
        "import sys\nfrom kappaguard.verify.theory.registry import claims\nclaims()\n"
        "print(*{'torch', 'cvxpy', 'sympy', 'scipy', 'PEPit'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
