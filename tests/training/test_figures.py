"""The figures: which there are, and that they show what the stored logs say."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET

import pytest

from kappaguard.cli import main
from kappaguard.reports.experiments.figure import picture
from kappaguard.training.reproduce import catalogue
from kappaguard.training.reproduce.catalogue import EXPERIMENTS, Experiment
from kappaguard.training.reproduce.curves import as_csv, curves
from kappaguard.training.reproduce.experiments import cells_of, name_of
from kappaguard.training.reproduce.paper import paper_number_for

PAPERS = {
    "mnist": {(4, 0.1), (4, 1), (4, 10), (6, 1), (6, 10), (8, 10)},
    "others": {(4, 0.1), (4, 1), (4, 10), (6, 1), (6, 10), (8, 10)},
    "dgd": {(4, 0.1), (4, 1), (4, 10)},
    "fashion-mnist": {(4, 0.1), (4, 1), (4, 10), (6, 1), (6, 10)},
    "cifar-10": {(2, 1), (2, 10), (3, 1), (3, 10), (4, 10)},
}
"""The captions of the appendix: (f, alpha)."""


@pytest.mark.parametrize("family", PAPERS)
def test_every_figure_of_the_appendix_is_there(family):
    for f, alpha in PAPERS[family]:
        given = [cell.configuration for cell in cells_of(f"{family}-f{f}-alpha{alpha:g}", 1)]
        assert {(each.n, each.f, each.alpha) for each in given} == {(17, f, alpha)}
        assert {each.attack.partition("(")[0] for each in given} == {"alie", "foe", "lf", "sf", "mimic"}
        assert {each.rule.partition("+")[0] for each in given} == {"nnm", "bucketing"}
        momentum = 0.99 if (family, f) == ("cifar-10", 4) else 0.9
        assert {each.momentum for each in given} == {momentum}
        assert {each.algorithm for each in given} == {"gd" if family == "dgd" else "shb"}
    assert len([name for name in EXPERIMENTS if name.startswith(f"{family}-f")]) == len(PAPERS[family])


def test_the_papers_number_stands_only_beside_its_own_setting():
    (table,) = cells_of("table2", 1, ["nnm+krum"], ["foe"])
    assert paper_number_for(table.configuration) == (70.07, 4.39)
    (baseline,) = cells_of("baseline", 1)
    assert paper_number_for(baseline.configuration) == (98.03, 0.70)
    for name in ("mnist-f4-alpha1", "mnist-f6-alpha1", "dgd", "fashion-mnist"):
        (other,) = cells_of(name, 1, ["nnm+krum"], ["foe"])
        assert paper_number_for(other.configuration) is None


def rows_of(values: list[float]) -> list[dict]:
    return [{"step": 10 * place, "accuracy": value} for place, value in enumerate(values)] + [{"step": 3, "eta": 1.0}]


def test_a_curve_is_the_mean_over_the_seeds_and_the_data_has_every_point():
    cells = cells_of("table2", 2, ["krum", "nnm+krum"], ["foe"])
    logs = [rows_of(values) for values in ([0.1, 0.2], [0.1, 0.7], [0.1, 0.4, 0.5], [0.1, 0.9])]
    drawn = curves(zip(cells, logs, strict=True), "accuracy")
    assert [curve.rule for curve in drawn] == ["krum", "nnm+krum"]
    assert drawn[0].summary() == [(0, 10.0, 10.0, 10.0), (10, pytest.approx(30.0), 20.0, 40.0)]
    assert drawn[1].paper == (70.07, 4.39)
    points = list(csv.DictReader(io.StringIO(as_csv(drawn, "accuracy"))))
    assert len(points) == 9
    assert points[-1] == {"rule": "nnm+krum", "attack": "foe", "seed": "2", "step": "10", "accuracy_percent": "90.0"}


@pytest.mark.parametrize("quantity", ["accuracy", "ratio"])
def test_the_picture_names_every_rule_and_attack_and_is_the_same_every_time(quantity):
    cells = cells_of("table2", 2, ["krum", "nnm+krum", "bucketing+krum"], ["foe", "lf", "sf"])
    logs = [[{"step": step, quantity: 0.1 * step} for step in (1, 2, 3)] for _ in cells]
    drawn = curves(zip(cells, logs, strict=True), quantity)
    image = picture(drawn, quantity, "a & b < c")
    assert image == picture(drawn, quantity, "a & b < c")
    words = {text.strip() for element in ET.fromstring(image).iter() for text in [element.text or ""]}
    assert {"krum", "nnm+krum", "bucketing+krum", "foe", "lf", "sf", "step"} <= words
    beside = "; triangles: the paper's Table 2" if quantity == "accuracy" else ""
    assert f"a & b < c{beside}" in words


def test_reproduce_writes_picture_and_data_and_redraws_from_what_is_stored(tmp_path, monkeypatch):
    small = Experiment("Digits", "digits", (), ("cwtm", "nnm+cwtm"), ("sf", "foe"))
    monkeypatch.setitem(catalogue.EXPERIMENTS, "small", small)
    command = ["reproduce", "small", "--steps", "4", "--evaluate-every", "2", "--out", str(tmp_path)]
    assert main(command) == 0
    stored = {path.name: path.read_bytes() for path in tmp_path.glob("small-*")}
    name = name_of("small", cells_of("small", 1, steps=4, evaluate_every=2))
    assert name.startswith("small-steps4-seeds1-")
    assert set(stored) == {f"{name}.md", f"{name}.svg", f"{name}.csv"}
    assert len(stored[f"{name}.csv"].splitlines()) == 1 + 2 * 2 * 3
    for name in stored:
        (tmp_path / name).unlink()
    monkeypatch.setattr("kappaguard.training.reproduce.sweep.finish", None)
    assert main(command) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.glob("small-*")} == stored


def test_other_settings_have_files_of_their_own():
    def name(seeds=1, rules=None, attacks=None, **changes):
        return name_of("table2", cells_of("table2", seeds, rules, attacks, **changes))

    names = [name(), name(seeds=2), name(steps=3), name(rules=["krum"]), name(rules=["gm"]), name(attacks=["sf"])]
    names.append(name(evaluate_every=7))
    assert len(set(names)) == len(names)
    assert name(device="cpu", data_dir="elsewhere") == names[0]
    assert name(rules=["gm", "krum"]) == name(rules=["krum", "gm"])
