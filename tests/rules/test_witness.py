"""Witness files: what is written is what is read, and whatever is wrong is one line."""

from __future__ import annotations

import json
import math
import os
import stat
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.base import untrusted
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.rationals import grids, on_grid, simplest_between, simplest_of_float, whole
from kappaguard.rules.witness import SCHEMA, Witness, fractions, from_json, load

GOOD = Witness(
    "krum", 3, 1, "trace", (1, 2), fractions([[0], [Fraction(1, 2)], [1]]), Fraction(1), Fraction(1), "by hand", "n"
)


def tampered(**changes):
    data = json.loads(GOOD.to_json())
    data.update(changes)
    return json.dumps(data)


numbers = st.fractions(max_denominator=10**9) | st.integers(-(10**300), 10**300).map(Fraction)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_json_and_back(data):
    n = data.draw(st.integers(1, 5))
    f = data.draw(st.integers(0, n - 1))
    d = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.tuples(*[numbers] * d), min_size=n, max_size=n))
    subset = tuple(sorted(data.draw(st.permutations(range(n)))[: n - f]))
    ends = sorted(abs(value) for value in data.draw(st.tuples(numbers, numbers)))
    upper = data.draw(st.sampled_from([ends[1], math.inf]))
    text = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
    given_one = Witness("nnm+gm", n, f, "diameter", subset, tuple(rows), ends[0], upper, text, text)
    again = from_json(given_one.to_json())
    assert again == given_one
    assert again.file_name == given_one.file_name
    # the numbers are in the file as texts that Fraction itself understands
    plain = json.loads(given_one.to_json())
    assert plain["schema"] == SCHEMA
    assert tuple(tuple(Fraction(v) for v in row) for row in plain["x"]) == given_one.x


def test_floats_are_taken_as_the_fractions_that_they_are():
    assert fractions(np.array([[0.1]])) == ((Fraction(3602879701896397, 36028797018963968),),)
    with pytest.raises(InputError, match="finite"):
        fractions(np.array([[np.inf]]))


def test_save_to_a_folder_or_a_file(tmp_path):
    path = GOOD.save(tmp_path)
    assert path.parent == tmp_path
    assert path.name.startswith("krum-n3-f1-")
    assert path.suffix == ".json"
    assert load(path) == GOOD
    other = GOOD.save(tmp_path / "new" / "name.json")
    assert other.read_bytes() == path.read_bytes()
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["name.json"]
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_a_name_is_safe_and_differs_with_content():
    odd = Witness("../a b/Ü.py:F(x='/')", 3, 1, "trace", (1, 2), GOOD.x, Fraction(1), Fraction(1))
    assert set(odd.file_name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert odd.file_name.count(".") == 1
    assert odd.file_name != GOOD.file_name
    assert len(Witness("q" * 900, 3, 1, "trace", (1, 2), GOOD.x, Fraction(1), Fraction(1)).file_name) < 100


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = GOOD.save(tmp_path / "w.json")
    before = path.read_bytes()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        Witness("cwmed", 3, 1, "trace", (1, 2), GOOD.x, Fraction(1), Fraction(1)).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[1, 2", "not JSON"),
        ("[]", "not an object"),
        ("{}", "schema"),
        ('{"schema": "kappaguard-witness/2"}', "kappaguard-witness/2"),
        ("[" * 200_000, "nested too deeply"),
        ('{"schema":' * 100_000, "nested too deeply"),
        (tampered(extra=1), "'extra' is not a part"),
        (tampered(schema=None), "schema"),
        (GOOD.to_json().replace('"n": 3', '"n": 3, "n": 3'), "twice"),
        (tampered(n=4), "n = 4 vectors"),
        (tampered(n=True), "integer"),
        (tampered(n="3"), "integer"),
        (tampered(n=0), "between 1 and"),
        (tampered(f=-1), "f = -1"),
        (tampered(f=2), "n - f = 1 indices"),
        (GOOD.to_json().replace('"n": 3', '"n": ' + "9" * 5000), "5000 digits"),
        (GOOD.to_json().replace('"n": 3', '"n": 3.0'), "fractions are written as texts"),
        (GOOD.to_json().replace('"n": 3', '"n": NaN'), "NaN"),
        (GOOD.to_json().replace('"n": 3', '"n": 1e999'), "1e999"),
        (tampered(rule=""), "empty"),
        (tampered(rule=["krum"]), "text"),
        (tampered(rule="k" * 2000), "1000 characters"),
        (tampered(note="k" * 20_000), "10000 characters"),
        (tampered(criterion="best"), "'best'"),
        (tampered(subset=[2, 1]), "increasing"),
        (tampered(subset=[1, 1]), "repetition"),
        (tampered(subset=[1, 3]), "between 0 and 2"),
        (tampered(subset=[-1, 1]), "between 0 and 2"),
        (tampered(subset=["1", "2"]), "indices"),
        (tampered(subset=[[1], [2]]), "indices"),
        (tampered(subset=3), "list"),
        (tampered(x=3), "list"),
        (tampered(x=[1, 2, 3]), "list of lists"),
        (tampered(x=[["0"], ["1"], ["1", "2"]]), "same number"),
        (tampered(x=[[], [], []]), "at least one"),
        (tampered(x=[["0"], ["1/0"], ["1"]]), "denominator 0"),
        (tampered(x=[["0"], ["1.5"], ["1"]]), "1.5"),
        (tampered(x=[["0"], ["1e999999"], ["1"]]), "1e999999"),
        (tampered(x=[["0"], ["\u0661"], ["1"]]), "fractions as texts"),
        (tampered(x=[["0"], ["9" * 500], ["1"]]), "400 digits"),
        (tampered(x=[["0"], ["9" * 100_000], ["1"]]), "fractions as texts"),
        (tampered(x=[["0"], [1], ["1"]]), "fractions as texts"),
        (tampered(x=[["0"] * 200_000, ["1"], ["1"]]), "200000 entries"),
        (tampered(lower="2"), "lower <= upper"),
        (tampered(lower="-1"), "0 <= lower"),
        (tampered(lower="nan"), "lower"),
        (tampered(upper="1/0"), "upper"),
        (tampered(upper="9" * 100_000), "upper"),
        (tampered(upper=1), "upper"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(text, said, tmp_path):
    path = tmp_path / "w.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("key", sorted(json.loads(GOOD.to_json())))
def test_every_part_is_needed(key):
    data = json.loads(GOOD.to_json())
    del data[key]
    with pytest.raises(InputError, match=key):
        from_json(json.dumps(data))


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "none.json")
    with pytest.raises(InputError, match="not a file"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a file"):
        load(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        load(tmp_path / "binary")
    with (tmp_path / "large").open("wb") as stream:
        stream.truncate(untrusted.MOST_BYTES * 100)
    with pytest.raises(InputError, match="larger than"):
        load(tmp_path / "large")
    with pytest.raises(InputError, match="cannot read"):
        load("a\0b")


def test_a_witness_that_could_not_be_read_back_cannot_be_made():
    with pytest.raises(InputError, match="digits"):
        Witness("krum", 3, 1, "trace", (1, 2), fractions([[0], [10**500], [1]]), Fraction(1), Fraction(1))
    with pytest.raises(InputError, match="digits"):
        Witness("krum", 3, 1, "trace", (1, 2), GOOD.x, Fraction(0), Fraction(10**3000))


@given(st.fractions(max_denominator=60), st.fractions(0, 1, max_denominator=60))
def test_the_simplest_fraction_is_the_simplest(low, width):
    high = low + width
    found = simplest_between(low, high)
    assert low <= found <= high
    for bottom in range(1, found.denominator):
        assert math.ceil(low * bottom) > math.floor(high * bottom)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), st.sampled_from(sorted(grids())))
def test_roundings_are_near(values, denominator):
    x = np.array([values])
    for new, old in zip(on_grid(x, denominator)[0], values, strict=True):
        assert abs(new - Fraction(old)) <= Fraction(1, 2 * denominator)


@given(st.floats(-1e9, 1e9))
def test_the_simplest_fraction_of_a_float_rounds_to_it(value):
    found = simplest_of_float(value)
    assert found.numerator / found.denominator == value
    assert found.denominator <= Fraction(value).denominator


@given(st.fractions(-1000, 1000, max_denominator=4096))
def test_a_simple_fraction_is_found_again_in_its_float(fraction):
    assert simplest_of_float(float(fraction)) == fraction


@given(st.lists(st.fractions(max_denominator=30), min_size=1, max_size=6))
def test_whole_numbers_without_a_common_divisor(values):
    x = np.array([values], dtype=object)
    result = whole(x)[0].tolist()
    assert all(value.denominator == 1 for value in result)
    assert math.gcd(*map(int, result)) in (0, 1)
    scale = {new / old for new, old in zip(result, values, strict=True) if old}
    assert len(scale) <= 1
    assert all(value > 0 for value in scale)
