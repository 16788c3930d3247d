"""The parts of a report: the table and its proofs, traces, and the picture of the README."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from kappaguard.reports.collect import thinned
from kappaguard.reports.cover import write_cover
from kappaguard.reports.results import save
from kappaguard.reports.table import RULES, Place, in_short, places, table
from kappaguard.reports.typesetting import formulas, place
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import load
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.replay import replay

from .example import results

pytestmark = pytest.mark.solver


def test_the_table_has_files_that_prove_it(tmp_path: Path) -> None:
    wanted = [Place(rule, 5, 1) for rule in ("cwmed", "nnm+cwtm", "krum", "mda", "nnm+mda")]
    steps: list[int] = []
    entries = table(wanted, tmp_path, lambda done, total: steps.append(done), jobs=1)
    assert steps == [0, 1, 2, 3, 4, 5]
    for each in entries:
        witness = load(tmp_path / each["witness"])
        assert replay(witness).reproduces
        assert float(witness.lower) == each["lower"]
        certified = check((tmp_path / each["certificate"]).read_text())
        assert each["rule"].endswith(certified.rule)
        if certified.rule == each["rule"]:
            assert float(certified.upper) == each["upper"]
        else:
            assert "lemma-1-nnm-sharp" in each["proof"]
    again: list[int] = []
    assert table(wanted, tmp_path, lambda done, total: again.append(done), jobs=1) == entries
    assert again == [5]


def test_the_default_grid_is_all_that_the_pictures_need() -> None:
    every = places("default")
    assert len(every) == len(set(every))
    assert {(each.n, each.f) for each in every if each.rule == "krum"} == {
        (n, f) for n in range(3, 18) for f in range(1, (n + 1) // 2)
    }
    assert [each.rule for each in places("quick")] == [*RULES, *(f"nnm+{rule}" for rule in RULES)]


def test_the_picture_of_the_readme_stands_alone(tmp_path: Path) -> None:
    save(results(), tmp_path)
    root = ElementTree.parse(write_cover(tmp_path, tmp_path)).getroot()
    assert root.get("width") == "720"
    assert not any(element.tag.endswith("}a") for element in root.iter())
    save(results() | {"kappa": []}, tmp_path)
    with pytest.raises(InputError, match="too few"):
        write_cover(tmp_path, tmp_path)


def test_a_trace_keeps_what_can_be_seen() -> None:
    trace = [
        ["a", 1, 0.1, 1.0],
        ["a", 2, 0.1, 1.0005],
        ["b", 3, 0.2, 1.2],
        ["b", 4, 0.2, 1.2001],
        ["b", 5, 0.2, 1.2002],
    ]
    assert thinned(trace) == [trace[0], trace[2], trace[4]]
    assert thinned([]) == []


def test_formulas_are_set_with_letters_and_signs() -> None:
    set_so = str(formulas("||grad L_H(theta_0)||^2 <= 4 L (L_H(theta_0) - L*)/T^(3/2) <b> num_examples"))
    sigma = "\N{GREEK SMALL LETTER SIGMA}"
    assert set_so.startswith("‖∇ L<sub>H</sub>(θ<sub>0</sub>)‖² ≤ 4 L")
    assert "T<sup>3/2</sup> &lt;b&gt; num_examples" in set_so
    assert str(formulas("E||delta_{t-1}|| sigma")) == f"E‖δ<sub>t-1</sub>‖ {sigma}"
    assert place("appendix A.1 (prop:gm)") == "appendix A.1"


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (Fraction(4, 9), Fraction(4, 9), "= 4/9"),
        (Fraction(16, 9) - Fraction(1, 10**8), Fraction(16, 9), "≤ 16/9"),
        (Fraction(1), Fraction(12668254, 3428264), None),
        (math.inf, math.inf, None),
        (Fraction(1), None, None),
    ],
)
def test_fractions_with_few_digits_are_shown(lower: Any, upper: Any, said: str | None) -> None:
    assert in_short(lower, upper) == said
