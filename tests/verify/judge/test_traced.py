"""Exact kappa* of code: values against known ones, proofs that are checked, and certificates that cannot be turned."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.cli import main
from kappaguard.rules.foreign.resolve import resolve
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.recipe import Fork, Nowhere, OrderStatistics, Pieces, Recipe
from kappaguard.rules.recipe.trace.cone import Side, gaps, inner_point, multipliers, proves_empty
from kappaguard.rules.recipe.trace.refusal import Untraceable
from kappaguard.verify.guard.diff import diff, resembles
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.rejected import Rejected

pytestmark = pytest.mark.solver

CODE = """
import numpy as np


def krum(x, f):
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]


def masks(x, f):
    s = np.sort(x, axis=0)
    inside = (x >= s[f]) & (x <= s[len(x) - f - 1])
    return (x * inside).sum(0) / inside.sum(0)


def roots(x, f):
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]


def forges(x, f):
    return x.mean(0)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "mine.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return "mine.py"


def trimmed_by_masks(x: Any, f: int) -> Any:
    s = np.sort(x, axis=0)
    inside = (x >= s[f]) & (x <= s[len(x) - f - 1])
    return (x * inside).sum(0) / inside.sum(0)


def least_of_three_or_mean(x: Any, f: int) -> Any:
    """The median, or the mean of the middle three where the gap above is the larger one."""
    s = np.sort(x, axis=0)
    k = len(x) // 2
    return np.where(s[k + 1] - s[k] > s[k] - s[k - 1], s[k - 1 : k + 2].mean(0), s[k])


def test_krum_by_hand_has_the_closed_form() -> None:
    def krum(x: Any, f: int) -> Any:
        d = ((x[:, None] - x[None]) ** 2).sum(-1)
        return x[np.argmin(np.sort(d, axis=1)[:, : len(x) - f].sum(1))]

    result = kg.exact(krum, n=7, f=2)
    assert result.lower == pytest.approx(49 / 9, rel=1e-5)
    assert result.upper == Fraction(49, 9)
    assert "which is that of krum" in str(result.scope)


@pytest.mark.parametrize(("n", "f", "kappa"), [(5, 1, Fraction(1, 2)), (7, 2, Fraction(6, 5)), (9, 2, Fraction(6, 7))])
def test_the_trimmed_mean_by_masks(n: int, f: int, kappa: Fraction) -> None:
    """More than the f / (n - 2f) of the trimmed mean: copies of the largest honest value are kept with it."""
    result = kg.exact(trimmed_by_masks, n=n, f=f)
    assert result.upper == kappa
    assert float(result.lower) == pytest.approx(float(kappa), rel=1e-6)


@pytest.mark.parametrize("rule", [trimmed_by_masks, least_of_three_or_mean])
def test_pieces_bound_every_small_input(rule: Any) -> None:
    """All inputs of small whole numbers on a line, every S: none is above the certified bound, and one comes close."""
    n, f = 5, 1
    result = kg.exact(rule, n=n, f=f)
    assert isinstance(result.upper, Fraction)
    worst = 0.0
    for values in product(range(5), repeat=n):
        x = np.array(values, dtype=float)[:, None]
        output = float(rule(x, f)[0])
        for subset in combinations(values, n - f):
            variance = np.var(subset)
            if variance > 0:
                worst = max(worst, (output - np.mean(subset)) ** 2 / variance)
    assert worst <= float(result.upper) * (1 + 1e-9)
    assert worst >= 0.7 * float(result.upper)


def test_flowers_krum_is_exact() -> None:
    pytest.importorskip("flwr")
    result = kg.exact("flwr:aggregate_krum", n=11, f=2)
    assert float(result.lower) == pytest.approx(3.1807, abs=1e-4)
    assert result.status.value == "exact"


def test_a_claim_on_code_is_proved_with_a_certificate(file: str) -> None:
    verdict = kg.check(f"{file}:krum", n=7, f=2, claim="49/9 + 1/1000")
    assert verdict.verdict == "proved"
    assert verdict.certificate is not None
    seen = check(verdict.certificate)
    assert seen.rule == "mine.py:krum"
    assert seen.origin is not None
    assert seen.upper <= Fraction(49, 9) + Fraction(1, 1000)
    assert "the recipe traced from mine.py:krum" in str(verdict.about)


def test_a_claim_below_exact_kappa_is_refuted_on_the_code(file: str) -> None:
    verdict = kg.check(f"{file}:masks", n=7, f=2, claim="119/100", evaluations=200)
    assert verdict.verdict == "refuted"
    assert verdict.witness is not None
    assert verdict.lower > Fraction(119, 100)


def test_what_is_not_traced_is_said_and_searched(file: str) -> None:
    verdict = kg.check(f"{file}:roots", n=7, f=2, claim="1000", evaluations=200)
    assert verdict.verdict == "open"
    assert "not traced: mine.py:18" in str(verdict.traced)
    assert "square them, or search only" in str(verdict.traced)


def test_commands(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe", f"{file}:krum", "-n", "7", "-f", "2"]) == 0
    assert "which is the recipe of krum" in capsys.readouterr().out
    assert main(["exact", f"{file}:masks", "-n", "7", "-f", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rule"] == "mine.py:masks"
    assert told["upper"] == pytest.approx(1.2)
    assert main(["replay", told["certificate"]]) == 0
    assert "the recipe traced from mine.py:masks (sha256 " in capsys.readouterr().out
    assert main(["replay", told["witness"]]) == 0
    capsys.readouterr()
    assert main(["exact", f"{file}:roots", "-n", "7", "-f", "2"]) == 2
    assert "mine.py:18" in capsys.readouterr().err
    assert main(["diff", f"{file}:krum", "krum", "-n", "7", "-f", "2"]) == 0
    assert capsys.readouterr().out.startswith("the same")
    assert main(["diff", f"{file}:masks", "cwtm", "-n", "7", "-f", "2", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "different"
    assert told["tie"] is True


def certificate(rule: Any, n: int, f: int) -> dict[str, Any]:
    text = kg.exact(rule, n=n, f=f).certificate
    assert text is not None
    data: dict[str, Any] = json.loads(text)
    return data


def test_a_certificate_under_another_name_is_rejected() -> None:
    data = certificate("cwtm", 7, 2)
    check(json.dumps(data))
    for rule in ("krum", "nonsense", "mine.py:rule"):
        with pytest.raises(Rejected):
            check(json.dumps(data | {"rule": rule}))
    with pytest.raises(Rejected, match="hash"):
        check(json.dumps(data | {"rule": "mine.py:rule", "origin": {"rule": "mine.py:rule", "sha256": "0"}}))
    with pytest.raises(Rejected, match="another rule"):
        check(json.dumps(data | {"rule": "mine.py:rule", "origin": {"rule": "other.py:rule", "sha256": "0" * 64}}))


def test_pieces_with_anything_changed_are_rejected() -> None:
    data = certificate(trimmed_by_masks, 5, 1)
    check(json.dumps(data))
    with pytest.raises(Rejected):
        check(json.dumps(data | {"upper": str(Fraction(data["upper"]) * Fraction(999, 1000))}))
    for place, part in enumerate(data["nodes"]):
        without = [each for index, each in enumerate(data["nodes"]) if index != place]
        with pytest.raises(Rejected):
            check(json.dumps(data | {"nodes": without}))
        if "empty" in part:
            changed = part | {"empty": ["0"] * len(part["empty"])}
        else:
            changed = part | {"multipliers": ["-1", *part["multipliers"][1:]]}
        with pytest.raises(Rejected):
            check(json.dumps(data | {"nodes": [*without, changed]}))


def test_pieces_are_checked_when_they_are_made() -> None:
    from kappaguard.rules.base.errors import InputError

    half = (Fraction(1, 2), Fraction(1, 2))
    form = (Fraction(-1), Fraction(1))
    Recipe(2, Pieces((Fork(form, True, 1, 2), OrderStatistics(half), Nowhere())))
    for nodes in (
        (),
        (Fork(form, True, 0, 1), OrderStatistics(half)),
        (Fork((Fraction(1), Fraction(1)), True, 1, 1), OrderStatistics(half)),
        (OrderStatistics((Fraction(1), Fraction(1))),),
    ):
        with pytest.raises(InputError):
            Recipe(2, Pieces(nodes))


def test_a_cone_has_a_point_or_multipliers() -> None:
    n = 4
    up = Side((Fraction(-1), Fraction(1), Fraction(0), Fraction(0)), True)
    down = Side((Fraction(1), Fraction(-1), Fraction(0), Fraction(0)), False)
    point = inner_point([*gaps(n), up], n)
    assert point is not None
    assert point[1] > point[0]
    assert point[3] > point[2] > point[1]
    equal = inner_point([*gaps(n), down], n)
    assert equal is not None
    assert equal[0] == equal[1] < equal[2]
    assert inner_point([*gaps(n), up, down], n) is None
    numbers = multipliers([*gaps(n), up, down], n)
    assert numbers is not None
    assert proves_empty([*gaps(n), up, down], numbers)
    assert not proves_empty([*gaps(n), up, down], [Fraction(0)] * len(numbers))


def test_rules_beside_each_other() -> None:
    assert diff("krum", "krum", 7, 2).verdict == "same"
    found = diff("krum", "krum(neighbours=3)", 7, 2)
    assert found.verdict == "different"
    assert found.x is not None
    assert np.abs(found.x).max() <= 2
    left, right = kg.rule("krum", f=2)(found.x), kg.rule("krum(neighbours=3)", f=2)(found.x)
    assert not np.allclose(left, right)
    assert diff("gm", "gm", 5, 1).verdict == "alike"


def test_what_a_black_box_behaves_like() -> None:
    def hidden(x: Any) -> Any:
        return kg.rule("gm")(x)

    assert resembles(resolve(hidden, 2, 7), 7, 2) == "behaves like gm on 1,000 inputs"
    assert resembles(resolve(lambda x: x.mean(0) + 1, 2, 7), 7, 2) is None


def test_an_input_that_goes_nowhere_is_an_error() -> None:
    half = (Fraction(1, 2), Fraction(1, 2))
    recipe = Recipe(2, Pieces((Fork((Fraction(-1), Fraction(1)), True, 1, 2), Nowhere(), OrderStatistics(half))))
    with pytest.raises(AssertionError):
        evaluate(recipe, np.array([[0.0], [1.0]]))


def test_tracing_a_class_and_a_refusal_as_an_error() -> None:
    class Median:
        def __call__(self, x: Any) -> Any:
            return np.median(x, axis=0)

    assert kg.exact(Median(), n=5, f=1).status.value == "exact"
    with pytest.raises(Untraceable):
        kg.exact(lambda x: np.round(x).mean(0), n=5, f=1)
