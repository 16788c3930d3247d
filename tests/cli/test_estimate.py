"""``kappaguard estimate`` as a user meets it: tables, JSON, CSV, pictures, witnesses, and one line for bad requests."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from kappaguard.cli import main
from kappaguard.reports.results import validate

pytestmark = pytest.mark.solver

SIZES = ("-n", "9", "-f", "2")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def told(capsys, *arguments):
    assert main(["estimate", *arguments]) == 0
    return capsys.readouterr().out


def test_what_it_prints(capsys):
    text = told(capsys, "krum", *SIZES, "--from", "gaussian:d=4", "--rounds", "30", "--attack", "alie,sf")
    for word in ("krum", "nnm+krum", "bucketing+krum", "alie", "sf", "variance after/before", "8.4", "the honest ones"):
        assert word in text


def test_json_csv_picture_and_witness(capsys, tmp_path):
    arguments = (
        "krum",
        "cwtm",
        *SIZES,
        "--from",
        "gaussian:d=4",
        "--rounds",
        "30",
        "--attack",
        "sf",
        "--attack",
        "mimic",
    )
    text = told(capsys, *arguments, "--json", "--csv", "a.csv", "--picture", "a.svg")
    data = json.loads(text)
    validate(data, "estimates")
    assert len(data["estimates"]) == 2 * 6
    first = data["estimates"][0]
    assert (first["rule"], first["attack"], first["inputs"]) == ("krum", "sf", 30)
    assert first["median"]["low"] <= first["median"]["value"] <= first["quantile_95"]["value"] <= first["largest"]
    assert first["upper"] == pytest.approx(3.24444, rel=1e-4)
    assert first["reach_of_kappa"][0] == pytest.approx(first["largest"] / first["upper"])
    assert first["reach_of_coefficient"] == pytest.approx(first["largest"] / 8.4)
    assert sum(first["histogram"]["counts"]) == 30
    mixed = next(each for each in data["estimates"] if each["rule"] == "nnm+krum")["mixing"]
    assert mixed["sharp"] == pytest.approx(8 / 7)
    assert mixed["kappa_bound"] == pytest.approx(8 / 7 * (first["largest"] + 1))
    assert mixed["total"]["largest"] <= mixed["sharp"]
    with (tmp_path / "a.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["rule"], row["attack"]) for row in rows] == [(e["rule"], e["attack"]) for e in data["estimates"]]
    assert float(rows[0]["largest"]) == first["largest"]
    picture = (tmp_path / "a.svg").read_text()
    assert picture.startswith("<svg")
    assert "f/(n-2f)" in picture
    kept = {each["rule"]: each for each in data["estimates"] if each["witness"]}
    assert set(kept) == {"krum", "cwtm", "nnm+krum", "nnm+cwtm", "bucketing+krum", "bucketing+cwtm"}
    for each in kept.values():
        capsys.readouterr()
        assert main(["replay", each["witness"], "--json"]) == 0
        assert float(json.loads(capsys.readouterr().out)["lower"]) == pytest.approx(each["largest"], rel=1e-6)


def test_an_input_too_large_for_rationals_is_kept_as_vectors(capsys):
    request = ("krum", *SIZES, "--no-mixing", "--no-worst-case")
    data = json.loads(
        told(capsys, *request, "--from", "gaussian:d=1000", "--rounds", "5", "--attack", "mimic", "--json")
    )
    (found,) = data["estimates"]
    assert found["witness"].endswith(".npz")
    again = json.loads(told(capsys, *request, "--from", found["witness"], "--json"))
    (repeated,) = again["estimates"]
    assert repeated["largest"] == pytest.approx(found["largest"])
    assert (repeated["inputs"], repeated["attack"], again["subsets"]) == (1, "given", "known")


def test_the_same_seed_gives_the_same_numbers_whoever_computes_them(capsys):
    request = (
        "cwtm",
        *SIZES,
        "--from",
        "one-dimensional",
        "--rounds",
        "300",
        "--attack",
        "sf",
        "--no-worst-case",
        "--json",
    )

    def numbers(*more):
        found = json.loads(told(capsys, *request, *more))["estimates"]
        return [{key: value for key, value in each.items() if key != "witness"} for each in found]

    assert numbers() == numbers("--jobs", "2") == numbers("--store", "a.sqlite") == numbers("--store", "a.sqlite")
    assert numbers() != numbers("--seed", "1")


def test_a_file_with_and_without_honest_workers(capsys, tmp_path):
    x = np.random.default_rng(0).standard_normal((6, 9, 5))
    np.save("all.npy", x)
    np.save("honest.npy", x[:, :7])
    unknown = json.loads(told(capsys, "krum", *SIZES, "--from", "all.npy", "--no-mixing", "--json"))
    assert (unknown["subsets"], unknown["independent"]) == ("enumeration", False)
    known = json.loads(told(capsys, "krum", *SIZES, "--from", "all.npy", "--honest", "0-6", "--no-mixing", "--json"))
    assert known["subsets"] == "known"
    assert known["estimates"][0]["largest"] <= unknown["estimates"][0]["largest"]
    attacked = [
        json.loads(told(capsys, "krum", *SIZES, *more, "--attack", "sf", "--no-mixing", "--json"))["estimates"][0]
        for more in (("--from", "honest.npy"), ("--from", "all.npy", "--honest", "0-6"))
    ]
    assert attacked[0]["largest"] == attacked[1]["largest"]
    nobody = json.loads(
        told(capsys, "cwtm", *SIZES, "--from", "gaussian", "--attack", "none", "--rounds", "9", "--json")
    )
    assert nobody["subsets"] == "enumeration"
    assert nobody["estimates"][0]["attack"] == "none"


def test_a_run_whose_messages_were_kept(capsys, tmp_path):
    settings = ("--rule", "cwtm", "--attack", "sf", "--steps", "12", "--keep-messages", "4", "--evaluate-every", "0")
    assert main(["train", *SIZES, *settings, "--json"]) == 0
    folder = json.loads(capsys.readouterr().out)["folder"]
    data = json.loads(told(capsys, "cwtm", *SIZES, "--from", folder, "--no-mixing", "--json"))
    (found,) = data["estimates"]
    assert (found["inputs"], found["attack"], data["subsets"]) == (3, "given", "known")
    rows = [json.loads(line) for line in (tmp_path / folder / "log.jsonl").read_text().splitlines()]
    last = [row["ratio"] for row in rows if row.get("ratio") is not None and row["step"] == 12]
    per_step = json.loads(
        told(capsys, "cwtm", *SIZES, "--from", f"{folder}/messages/step-00000012.npz", "--no-mixing", "--json")
    )
    assert per_step["estimates"][0]["largest"] == pytest.approx(last[0], rel=1e-4)


class Nasty:
    def __reduce__(self):
        return os.system, ("touch executed",)


def bad_files():
    x = np.random.default_rng(0).standard_normal((3, 9, 4))
    np.save("nan.npy", np.where(x > 1, np.nan, x))
    np.save("workers.npy", x[:, :5])
    np.save("flat.npy", np.zeros(7))
    np.save("cut.npy", x)
    with Path("cut.npy").open("r+b") as stream:
        stream.truncate(300)
    np.savez("cut.npz", x=x)
    with Path("cut.npz").open("r+b") as stream:
        stream.truncate(500)
    torch.save({"x": Nasty()}, "code.pt")
    np.save("code.npy", np.array([[Nasty()]], dtype=object), allow_pickle=True)
    Path("empty.safetensors").touch()
    Path("empty").mkdir()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nan.npy", "NaN"),
        ("workers.npy", "5 vectors a round"),
        ("flat.npy", "shape"),
        ("cut.npy", "damaged"),
        ("cut.npz", "damaged"),
        ("code.pt", "damaged"),
        ("code.npy", "damaged"),
        ("empty.safetensors", "damaged"),
        ("missing.npy", "no file"),
        ("empty", "no messages"),
        ("gaussian:d=-1", "d must be"),
    ],
)
def test_bad_files_get_one_line_and_exit_code_2(name, words, capsys, tmp_path):
    bad_files()
    assert main(["estimate", "krum", *SIZES, "--from", name]) == 2
    said = capsys.readouterr()
    assert len(said.err.strip().splitlines()) == 1
    assert words in said.err
    assert not said.out
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("krum", "-n", "4", "-f", "2", "--from", "one-dimensional"),
        ("krm", *SIZES, "--from", "one-dimensional"),
        ("krum", *SIZES, "--from", "one-dimensional", "--attack", "allie"),
        ("krum", *SIZES, "--from", "one-dimensional", "--attack", "lf"),
        ("krum", *SIZES, "--from", "one-dimensional", "--attack", "none", "--attack", "sf"),
        ("krum", *SIZES, "--from", "one-dimensional", "--attack", "given"),
        ("krum", *SIZES, "--from", "one-dimensional", "--honest", "0-6"),
        ("krum", *SIZES, "--from", "one-dimensional", "--rounds", "0"),
        ("krum", *SIZES, "--from", "one-dimensional", "--until-width", "0"),
        ("krum", *SIZES, "--from", "one-dimensional", "--criterion", "size"),
        ("krum", *SIZES, "--from", "one-dimensional", "--jobs", "0"),
        ("krum", *SIZES, "--from", "one-dimensional", "--engine", "slurm"),
        ("krum", *SIZES, "--from", "one-dimensional", "--address", "tcp://nowhere"),
        ("krum", *SIZES, "--from", "one-dimensional", "--seed", "-1"),
        ("krum", *SIZES, "--from", "one-dimensional", "--rounds", "2", "--csv", "no/such\0name"),
    ],
)
def test_bad_requests_get_one_line_and_exit_code_2(arguments, capsys):
    assert main(["estimate", *arguments]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_families_and_files_need_no_torch():
    """In a process in which torch cannot be imported."""
    np.savez("a.npz", x=np.random.default_rng(0).standard_normal((3, 9, 2)), honest=np.arange(7))
    code = (
        "import sys, numpy as np\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('torch', 'sklearn', 'pooch'): raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from kappaguard.cli import main\n"
        "import kappaguard as kg\n"
        "size = ['-n', '9', '-f', '2', '--no-worst-case']\n"
        "assert main(['estimate', 'krum', *size, '--from', 'gaussian', '--rounds', '5']) == 0\n"
        "assert main(['estimate', 'krum', *size, '--from', 'a.npz']) == 0\n"
        "x = np.random.default_rng(0).standard_normal((9, 4))\n"
        "assert not kg.Monitor(9, 2, 8.4)(x, kg.rule('krum', f=2)(x)).violated\n"
        "assert main(['estimate', 'krum', *size, '--from', 'a.pt']) == 2\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
