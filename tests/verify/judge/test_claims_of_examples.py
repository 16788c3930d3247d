"""The search chooses what Byzantine clients claim, and its witnesses replay."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import load
from kappaguard.verify.judge.search import search

CODE = """
import numpy as np


def median(x, weights):
    order = np.argsort(x, axis=0, kind="stable")
    ends = np.cumsum(weights[order], axis=0)
    middle = np.argmax(2 * ends >= ends[-1], axis=0)
    return np.take_along_axis(np.take_along_axis(x, order, axis=0), middle[None], axis=0)[0]


def capped(x, weights):
    return median(x, np.minimum(weights, 1))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_claim_is_part_of_the_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["search", "mine.py:median", "-n", "7", "-f", "2", "--counts", "1,3,1000", "--evaluations", "900", "--json"]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["lower"] == "inf"
    witness = load(data["witness"])
    assert witness.rule == "mine.py:median(num_examples=(1, 1, 1, 1, 1, 3, 3))"
    assert witness.subset == (0, 1, 2, 3, 4)
    assert main(["replay", data["witness"], "--run-code"]) == 0


def test_small_claims_are_not_enough() -> None:
    alone = search("mine.py:median", 7, 2, evaluations=600, counts=[1])
    pair = search("mine.py:median", 7, 2, evaluations=1200, counts=[1, 2])
    capped = search("mine.py:capped", 7, 2, evaluations=1200, counts=[1, 10**9])
    assert alone.lower < pair.lower < math.inf
    assert capped.lower == pytest.approx(float(alone.lower), rel=1e-3)


@pytest.mark.parametrize(("rule", "counts"), [("cwmed", [1]), ("mine.py:median", []), ("mine.py:median", [-1])])
def test_bad_requests(rule: str, counts: list[int]) -> None:
    with pytest.raises(InputError):
        search(rule, 7, 2, evaluations=10, counts=counts)


def test_bad_words() -> None:
    assert main(["search", "mine.py:median", "-n", "7", "-f", "2", "--counts", "1,x"]) == 2
