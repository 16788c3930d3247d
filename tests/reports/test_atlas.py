"""The atlas: what it computes, that it goes on, and that its page says what its numbers say."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from kappaguard.cli import main
from kappaguard.reports.atlas import run, table
from kappaguard.reports.atlas.entry import bounds, ordinary
from kappaguard.reports.atlas.place import BUILT_IN, STEPS, AtlasPlace, places
from kappaguard.reports.atlas.run import agreed, make_atlas
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import RULES
from kappaguard.rules.witness import load
from kappaguard.search.engines import Died
from kappaguard.verify.judge.replay import replay

FEW = 60
MINE = """
import numpy as np

def middle(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)
"""


def test_every_rule_stands_in_it_with_every_step_that_makes_sense() -> None:
    found = places(at=[(5, 1)])
    assert {place.base for place in found} >= set(RULES)
    assert [place.rule for place in found if place.base == "krum"] == ["krum", "nnm+krum", "bucketing(s=2)+krum"]
    # worker 0 is trusted, and nobody is worker 0 behind bucketing
    assert [place.rule for place in found if place.base == "nna"] == ["nna", "nnm+nna"]
    assert [place.random for place in found if place.base == "krum"] == [False, False, True]
    mine = places(["nnm+mine.py:rule", "krum"], [(5, 1)], built_in=("krum",))
    assert [place.rule for place in mine] == ["nnm+mine.py:rule", *(f"{step}+krum".lstrip("+") for step in STEPS)]
    with pytest.raises(InputError, match="f < n/2"):
        AtlasPlace("krum", "", 4, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rules at (5, 1), of which one refuses and one is somebody's code."""
    where = tmp_path_factory.mktemp("atlas")
    (where / "mine.py").write_text(MINE)
    wanted = places([f"nnm+{where / 'mine.py'}:middle"], [(5, 1)], FEW, built_in=("cwtm", "average", "bulyan"))
    make_atlas(wanted, where / "out", "kappaguard atlas", jobs=1)
    return where / "out"


def by_rule(folder: Path) -> dict[str, dict[str, object]]:
    entries = json.loads((folder / "atlas.json").read_text())["entries"]
    return {entry["rule"].replace(f"{folder.parent}/", ""): entry for entry in entries}


@pytest.mark.solver
def test_what_is_known_of_each(folder: Path) -> None:
    found = by_rule(folder)
    assert (found["cwtm"]["status"], found["cwtm"]["upper"]) == ("exact", pytest.approx(1 / 3))
    assert found["bucketing(s=2)+cwtm"]["status"] == "lower"
    assert found["bucketing(s=2)+cwtm"]["upper"] is None
    assert found["bucketing(s=2)+cwtm"]["certificate"] is None
    assert (found["average"]["lower"], found["average"]["breaks_at"]) == ("inf", 1)
    assert found["cwtm"]["stands_to"] == 2
    assert "4f + 3" in str(found["bulyan"]["refused"])
    # traced, it is the trimmed mean
    assert found["nnm+mine.py:middle"]["upper"] == found["nnm+cwtm"]["upper"]
    assert found["nnm+mine.py:middle"]["error"] == pytest.approx(found["nnm+cwtm"]["error"])
    # coordinate-wise rules are as bad on a line as anywhere
    assert (found["cwtm"]["worst_d"], found["cwtm"]["line"]) == (1, found["cwtm"]["lower"])
    assert all(entry["cost"] > 0 for entry in found.values() if not entry["refused"])


@pytest.mark.solver
def test_every_bound_has_a_file_that_proves_it(folder: Path) -> None:
    for entry in by_rule(folder).values():
        if entry["refused"]:
            continue
        assert entry["witness"]
        if "mine" not in str(entry["rule"]):
            judged = replay(load(folder / str(entry["witness"])))
            least = math.inf if entry["lower"] == "inf" else entry["lower"]
            assert float(judged.lower) == pytest.approx(least, rel=1e-9)
        if entry["status"] in ("exact", "bracket"):
            assert entry["certificate"] or entry["proof"]
            assert not entry["certificate"] or (folder / str(entry["certificate"])).is_file()
        if entry["breaks_at"]:
            assert (folder / str(entry["breakdown"])).is_file()


@pytest.mark.solver
def test_the_page_and_the_table_have_every_entry(folder: Path) -> None:
    page = (folder / "index.html").read_text()
    rows = list(csv.DictReader((folder / "atlas.csv").read_text().splitlines()))
    assert len(rows) == page.count("<tr data-place=") == 3 * 3 + 1
    assert page.count("one permutation</span>") == 3
    assert page.count("<figure") == 2
    assert "kappa* against time" in page


@pytest.mark.solver
def test_started_again_it_computes_nothing_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*given: object) -> None:
        raise AssertionError(given)

    before = json.loads((folder / "atlas.json").read_text())["entries"]
    monkeypatch.setattr(run, "distribute", never)
    monkeypatch.setattr(run, "ordinary", never)
    code = str(folder.parent / "mine.py")
    wanted = places([f"nnm+{code}:middle"], [(5, 1)], FEW, built_in=("cwtm", "average", "bulyan"))
    assert make_atlas(wanted, folder, "kappaguard atlas").entries == before
    with pytest.raises(AssertionError):
        make_atlas(places((), [(5, 1)], FEW + 1, built_in=("cwtm",)), folder, "kappaguard atlas")


@pytest.mark.solver
def test_interrupted_it_leaves_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = places((), [(5, 1)], FEW, built_in=("cwmed",))

    def interrupted(function: object, missing: list[AtlasPlace], *more: object):
        yield 0, bounds(missing[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "distribute", interrupted)
    found = make_atlas(wanted, tmp_path, "kappaguard atlas")
    assert found.interrupted
    assert [entry["rule"] for entry in found.entries] == ["cwmed"]
    assert "interrupted: the same command goes on" in (tmp_path / "index.html").read_text()


def test_a_process_that_dies_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = places((), [(5, 1)], FEW, built_in=("nna",))
    for _ in range(2):
        asked: list[AtlasPlace] = []

        def dies(function: object, missing: list[AtlasPlace], *more: object, asked: list[AtlasPlace] = asked):
            asked += missing
            yield from ((place, Died()) for place in range(len(missing)))

        monkeypatch.setattr(run, "distribute", dies)
        found = make_atlas(wanted, tmp_path, "kappaguard atlas")
        assert asked == wanted
        assert [entry["refused"] for entry in found.entries] == [run.DIED, run.DIED]
    assert "its process died" in (tmp_path / "index.html").read_text()


def test_error_without_attack_is_the_mean_ratio() -> None:
    """Of one of n independent vectors, as krum takes: E ||x_k - mean||^2 over the variance is near 1, and it is exactly
    0 for the average."""
    assert ordinary(AtlasPlace("average", "", 9, 2))["error"] == pytest.approx(0, abs=1e-20)
    assert 0.7 < ordinary(AtlasPlace("krum", "", 9, 2))["error"] < 1.1
    generator = np.random.default_rng([0, 9])
    total = 0.0
    for _ in range(64):
        x = generator.standard_normal((9, 100))
        median, mean = np.median(x, axis=0), x.mean(axis=0)
        total += ((median - mean) ** 2).sum() / x.var(axis=0).sum()
    assert ordinary(AtlasPlace("cwmed", "", 9, 2))["error"] == pytest.approx(total / 64)


def test_a_rule_with_an_infinite_witness_has_broken_there() -> None:
    some = {"rule": "a", "n": 9, "refused": None, "lower": 1.0, "breaks_at": None, "stands_to": 4, "witness_text": "w"}
    worse = {**some, "f": 2, "lower": "inf", "witness_text": "v"}
    first, second = agreed([{**some, "f": 1}, worse])
    assert (first["breaks_at"], first["stands_to"], first["breakdown_text"]) == (2, 1, "v")
    assert (second["breaks_at"], second["breakdown_text"]) == (2, "v")


def test_a_page_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(InputError, match="is not an atlas"):
        make_atlas(places((), [(5, 1)], FEW, built_in=("cwtm",)), tmp_path, "kappaguard atlas")


@pytest.mark.solver
def test_the_command_says_where_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr("kappaguard.reports.atlas.place.places.__defaults__", ((), (), FEW, 0, ("cwtm",)))
    assert main(["atlas", "--quick", "--at", "5,1", "--out", str(tmp_path), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "3 of 3 entries: 2 exact, 1 lower" in printed
    assert str(tmp_path / "index.html") in printed
    assert main(["rules"]) == 0
    assert "kappaguard atlas" in capsys.readouterr().out
    assert len(BUILT_IN) == len(RULES) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--at", "4,2"], "f < n/2"), (["krumm"], "krumm"), (["--jobs", "0"], "--jobs"), (["--at", "5"], "a pair n,f")],
)
def test_a_wrong_request_is_told_in_a_line(arguments, message, tmp_path, capsys) -> None:
    assert main(["atlas", *arguments, "--quick", "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_growth_and_training_are_shown() -> None:
    entry = {"lower": 3.0, "line": 1.5, "worst_d": 4, "trained": {"none": 0.9, "alie": 0.5, "foe": None, "sf": 0.7}}
    assert table._growth(entry) == "2 (d = 4)"
    assert table._worst(entry) == ("foe", 0.0)
    assert table._trained(entry) == "0 % (foe)"
    assert table._growth({"lower": 3.0, "line": 3.0, "worst_d": 1}) == "1"
    assert table._growth({"lower": "inf", "line": 3.0, "worst_d": 1}) == table._trained({}) == ""
    (row,) = csv.DictReader(table.atlas_csv([entry]).splitlines())
    assert (row["worst_d"], row["worst_attack"], row["worst_accuracy"]) == ("4", "foe", "0.0")


@pytest.mark.solver
def test_a_rule_that_needs_dimensions_grows() -> None:
    found = bounds(AtlasPlace("krum", "", 5, 1, 400))
    assert found["worst_d"] > 1
    assert 0 < found["line"] < found["lower"]


def test_training_is_asked_for_and_only_at_the_largest_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AtlasPlace] = []

    def trained(place: AtlasPlace) -> dict[str, object]:
        asked.append(place)
        return {"trained": {"none": 0.9, "alie": 0.25}}

    monkeypatch.setattr(run, "trained", trained)
    wanted = places((), [(5, 1), (7, 2)], FEW, built_in=("cwtm",))[:2]
    for _ in range(2):
        entries = make_atlas(wanted, tmp_path, "kappaguard atlas", jobs=1, train=True).entries
    assert asked == [AtlasPlace("cwtm", "", 7, 2, FEW)]
    assert [entry.get("trained") for entry in entries] == [None, {"none": 0.9, "alie": 0.25}]
    assert "25 % (alie)" in (tmp_path / "index.html").read_text()
