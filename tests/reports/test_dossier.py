"""The dossier: from a callable in a file to one folder whose numbers are those of its witnesses."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction

import pytest

from kappaguard.cli import main
from kappaguard.reports.dossier.agree import agreed
from kappaguard.reports.dossier.failure import failure
from kappaguard.reports.dossier.html import html_page
from kappaguard.reports.dossier.markdown_text import escaped
from kappaguard.reports.dossier.page import page
from kappaguard.reports.dossier.plan import Plan, plan_from_json
from kappaguard.reports.dossier.run import stress
from kappaguard.reports.dossier.sections import SECTIONS, happens, training
from kappaguard.reports.dossier.sections.cost import _exponent
from kappaguard.reports.dossier.sections.grid import _slope, best_rule, cells
from kappaguard.reports.dossier.verdict import verdict
from kappaguard.reports.results import validate
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness, load
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.theory.coefficients import OURS

pytestmark = pytest.mark.solver

MINE = """import time
import numpy as np


def trimmed(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def trims_three(x):
    return np.sort(x, axis=0)[3:-3].mean(axis=0)


def hangs(x):
    time.sleep(100)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def test_one_command_one_folder(folder, capsys, monkeypatch):
    # training and what happens on gradients have tests of their own
    sections = tuple(name for name in SECTIONS if name not in ("training", "happens"))
    monkeypatch.setattr("kappaguard.reports.dossier.run.SECTIONS", sections)
    status = main(["stress", "mine.py:trimmed", "-n", "7", "-f", "2", "--evaluations", "300", "--out", "dossier"])
    output = capsys.readouterr().out
    assert status == 0
    assert "Dossier: dossier/dossier.html, dossier.md" in output
    text = (folder / "dossier" / "dossier.md").read_text()
    data = json.loads((folder / "dossier" / "dossier.json").read_text())
    assert data["failed"] == {}
    assert list(data["sections"]) == list(sections)
    # every lower bound is its witness's, and the trimmed mean attains f/(n-2f)
    for row in data["sections"]["grid"]["rows"]:
        witness = load(folder / "dossier" / "witnesses" / row["witness"])
        assert replay(witness).reproduces
        assert row["lower"] == pytest.approx(float(witness.lower), rel=1e-9)
        assert row["lower"] <= float(Fraction(row["f"], row["n"] - 2 * row["f"])) * (1 + 1e-9)
    here = next(row for row in data["sections"]["grid"]["rows"] if (row["n"], row["f"]) == (7, 2))
    assert here["lower"] == pytest.approx(2 / 3, rel=1e-6)
    exact = data["sections"]["recipe"]
    assert exact["name"] == "traced: cwtm"
    assert [(row["f"], row["status"]) for row in exact["rows"]] == [(1, "exact"), (2, "exact")]
    assert exact["rows"][1]["upper"] == pytest.approx(2 / 3)
    assert "is exactly 0.666667" in text
    assert data["sections"]["breakdown"]["breaks_at"] is None
    assert 0.3 < data["sections"]["cost"]["exponent_d"] < 2.5
    for name in re.findall(r"\(((?:witnesses|pictures)/[^)]+)\)", text):
        assert (folder / "dossier" / name).is_file()
    html = (folder / "dossier" / "dossier.html").read_text()
    assert html.count("<svg") == text.count("](pictures/") >= 2
    assert re.findall(r'href="(witnesses/[^"]+)"', html) == re.findall(r"\((witnesses/[^)]+)\)", text)
    for section in re.findall(r"(?m)^## (.*)$", text):
        assert f">{section.replace(chr(92), '')}</h2>" in html.replace("≥", ">=")
    assert text.startswith("# Dossier of mine.py:trimmed\n\n- Sound")


def test_what_happens_beside_what_can(folder, monkeypatch):
    monkeypatch.setattr(happens, "MOST_ROUNDS", 5)
    plan = Plan("mine.py:trimmed", 7, 2, witnesses=str(folder / "witnesses"))
    data = json.loads(json.dumps(happens.compute(plan), allow_nan=False))
    validate(data, "estimates")
    rules = {each["rule"] for each in data["estimates"]}
    assert rules == {"mine.py:trimmed", "nnm+mine.py:trimmed", "bucketing+mine.py:trimmed"}
    own = [each for each in data["estimates"] if each["rule"] == "mine.py:trimmed"]
    # the trimmed mean attains f/(n-2f) and no more
    assert all(0 < each["largest"] <= 2 / 3 for each in own)
    assert (folder / "witnesses" / data["largest"]["witness"]).is_file()
    text = page(plan, {"happens": data}, {}, 1.0)
    assert "What happens, beside what can happen" in text
    assert "a ratio of at most" in text
    best = {"n": 7, "f": 2, "lower": 2 / 3, "witness": "a.json", "d": 1}
    (line,) = [
        line for line in verdict(plan, {"happens": data, "dimension": {"rows": [best]}}, {}) if "gradients" in line
    ]
    assert "% of the largest found" in line


def test_training_under_attack(monkeypatch):
    monkeypatch.setattr(training, "MOST_STEPS", 2)
    monkeypatch.setattr(training, "LEAST_STEPS", 2)
    data = json.loads(json.dumps(training.compute(Plan("cwtm", 5, 1)), allow_nan=False))
    assert [row["attack"] for row in data["rows"]] == ["none", "alie", "foe", "sf", "mimic", "lf"]
    assert all(0 <= row[name]["accuracy"] <= 1 for row in data["rows"] for name in ("rule", "beside"))
    text = page(Plan("cwtm", 5, 1), {"training": data}, {}, 1.0)
    assert "after 2 steps on digits" in text
    assert "at worst" in text


def test_a_rule_that_breaks(folder):
    dossier = stress(Plan("mine.py:trims_three", 17, 4, 300), folder / "out", 2, ("health", "breakdown", "mixing"))
    # three are trimmed: from four on, equal honest vectors are missed
    assert dossier.data["breakdown"]["breaks_at"] == 4
    states = [row["state"] for row in dossier.data["breakdown"]["rows"]]
    assert states == ["stands"] * 3 + ["breaks"] * 5
    first = verdict(dossier.plan, dossier.data, dossier.failed)[0]
    assert "Not robust at n = 17, f = 4" in first
    assert "kappa\\* is infinite at n = 17, f = 4" in verdict(dossier.plan, dossier.data, dossier.failed)[1]
    assert dossier.data["mixing"]["rows"][0]["lower"] == "inf"


def test_the_sections_tell_one_number() -> None:
    """The largest ratio, wherever it was found, is the headline, the grid's, and what mixing is compared with."""

    def row(lower: float | str, d: int, **more: object) -> dict[str, object]:
        return {"lower": lower, "d": d, "witness": f"{lower}.json", **more}

    plan = Plan("mine", 9, 2)
    elsewhere = row(9.0, 1, n=5, f=1, least=1 / 3, best="cwtm", best_value=1 / 3)
    data = {
        "grid": {"rows": [elsewhere, row(1.75251, 2, n=9, f=2, least=0.4, best="cwtm", best_value=0.4)], "slope": None},
        "dimension": {"rows": [row(1.677, 1), row(1.74, 2), row(1.6, 4)]},
        "mixing": {"rows": [row(1.7, 1, rule="mine"), row(1.778, 3, rule="nnm+mine")]},
    }
    told = agreed(plan, data)
    assert [each["lower"] for each in told["grid"]["rows"]] == [9.0, 1.75251]
    assert [(each["d"], each["lower"]) for each in told["dimension"]["rows"]] == [(1, 1.7), (2, 1.75251), (4, 1.6)]
    assert [each["lower"] for each in told["mixing"]["rows"]] == [1.75251, 1.778]
    for each in (told["grid"]["rows"][1], told["dimension"]["rows"][1], told["mixing"]["rows"][0]):
        assert each["witness"] == "1.75251.json"
    said = "\n".join(verdict(plan, told, {}))
    assert "kappa\\* >= 1.752 at n = 9, f = 2" in said
    assert "found 1.7 at d = 1, and the most, 1.752, at d = 2" in said
    assert "nnm in front: found 1.778 with it, 1.752 without." in said
    data["mixing"]["rows"][0] = row("inf", 3, rule="mine")
    told = agreed(plan, data)
    assert told["grid"]["rows"][1]["lower"] == "inf"
    assert [each["d"] for each in told["dimension"]["rows"]] == [1, 2, 3, 4]
    assert "kappa\\* is infinite" in verdict(plan, told, {})[0]


def test_a_power_below_one_is_not_called_better() -> None:
    for slope, said in ((0.9, "a smaller multiple of it where f/n is larger"), (1.2, "lower bound for every rule.")):
        text = page(Plan("mine", 9, 2), {"grid": {"rows": [], "slope": slope}}, {}, 1.0)
        assert said in text
        assert ("does not beat it" in text) == (slope < 1)
    # where kappa* is known in closed form, (m-k)/k of the median, a power below 1 is no weakness of the search
    exactly = [(f / (17 - 2 * f), float(OURS["cwmed"](17, f))) for f in range(1, 9)]
    power = _slope(exactly)
    assert power is not None
    assert power < 1
    assert all(bound <= value for bound, value in exactly)


def test_a_section_that_fails_does_not_take_the_others_along(folder, monkeypatch):
    with pytest.raises(InputError, match="within 3 s; --timeout raises this limit"):
        stress(Plan("mine.py:hangs", 5, 1, 300, timeout=3.0), folder / "out", 1, ("health",))
    data = {"breakdown": {"n": 5, "rows": [], "breaks_at": None, "most": 2}}
    text = page(Plan("a`b|c<d>", 5, 1), data, {"health": "raised *x* | <b>"}, 1.0)
    assert "Left out: raised \\*x\\* \\| \\<b\\>" in text
    assert "# Dossier of a\\`b\\|c\\<d\\>" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["krumm"], "did you mean krum"),
        (["krum", "-n", "4", "-f", "2"], "f < n/2"),
        (["krum", "-f", "0"], "f must"),
        (["krum", "--evaluations", "-1"], "evaluations"),
        (["krum", "--jobs", "0"], "--jobs"),
        (["krum", "--out", "mine.py/x"], "cannot write"),
        (["nothing.py:rule", "-n", "5", "-f", "1"], "does not exist"),
    ],
)
def test_wrong_requests(folder, capsys, arguments, said):
    assert main(["stress", *arguments]) == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("kappaguard: ")
    assert said in complaint


def test_plans():
    plan = Plan("krum", 9, 2, 15, 3, "w")
    assert plan_from_json(plan.to_json()) == plan
    assert (9, 2) in cells(plan)
    assert all(1 <= f < n / 2 for n, f in cells(plan))


def test_trends_of_known_functions():
    assert _slope([(x, 3 * x**1.5) for x in (0.1, 0.5, 2.0)]) == pytest.approx(1.5)
    assert _slope([(1.0, 2.0)]) is None
    assert _exponent([(10, 1.0), (100, 1.1), (1000, 11.0), (10_000, 110.0)]) == pytest.approx(1.0)
    assert best_rule(17, 4) == ("cwtm", pytest.approx(4 / 9))


def test_the_page_in_html_says_what_the_markdown_says() -> None:
    data = {"breakdown": {"n": 5, "rows": [], "breaks_at": None, "most": 2}}
    text = page(Plan("a`b|c<d>.py:[x](y)", 5, 1), data, {"health": "raised *x* | <b> [a](javascript:1)"}, 1.0)
    shown = html_page(text, {})
    assert "<h1>Dossier of a`b|c&lt;d&gt;.py:[x](y)</h1>" in shown
    assert "raised *x* | &lt;b&gt; [a](javascript:1)" in shown
    assert "javascript" not in "".join(re.findall(r'href="([^"]*)"', shown))
    assert '<a href="#breakdown-point">Breakdown point</a>' in shown
    assert "kappaguard replay --run-code witnesses/FILE</code>" in shown
    assert html_page("# t\n\nkappa\\* >= 1 and **a\\*b** [file](witnesses/a.json)\n", {}).count("≥") == 1


def test_the_breakdown_point_agrees_with_the_searches() -> None:
    plan = Plan("mine", 9, 2)
    grid = {"n": 9, "f": 2, "lower": "inf", "witness": "a.json", "d": 1, "why": "it follows"}
    stands = [{"f": f, "state": "stands", "detail": None, "witness": None} for f in (1, 2, 3)]
    data = {
        "grid": {"rows": [grid | {"least": 0.4}]},
        "breakdown": {"n": 9, "rows": stands, "breaks_at": None, "most": 4},
    }
    told = agreed(plan, data)["breakdown"]
    assert [row["state"] for row in told["rows"]] == ["stands", "breaks", "stands"]
    assert told["breaks_at"] == 2
    assert told["rows"][1]["witness"] == "a.json"


def test_infinite_says_which_failure_it_is() -> None:
    def witness(x: list[int], note: str = "") -> Witness:
        rows = tuple((Fraction(value),) for value in x)
        return Witness("mine", 3, 1, "trace", (0, 1), rows, math.inf, math.inf, "", note)

    assert failure(Fraction(1), witness([0, 0, 9])) is None
    assert (
        failure(math.inf, witness([0, 0, 9], "no vector: the rule raised ValueError")) == "the rule raised ValueError"
    )
    assert "all vectors are equal" in str(failure(math.inf, witness([2, 2, 2]), [1.0]))
    assert "follows the Byzantine" in str(failure(math.inf, witness([0, 0, 9]), [3.0]))
    assert "off by itself" in str(failure(math.inf, witness([1, 1, 1001]), [0.9]))


@pytest.mark.parametrize("text", ["a\nb", "|", "<script>", "[x](y)", "\x1b[31m", "`code`", "**bold**", "&amp;"])
def test_what_a_rule_says_is_shown_as_it_is(text):
    shown = escaped(text)
    assert "\n" not in shown
    assert "\x1b" not in shown
    for character in "|<>[]`*&":
        assert shown.count(character) == shown.count(f"\\{character}")
