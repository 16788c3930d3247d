"""The judge of witnesses, judged by definitions in loops and by tampering."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard import __version__
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.ratio import CRITERIA
from kappaguard.rules.ratio import ratio as rules_ratio
from kappaguard.rules.witness import Witness, fractions
from kappaguard.verify.judge.replay import replay, settle

from ...rules import naive

RATIONAL_RULES = ["average", "cwmed", "cwtm", "krum", "multikrum", "mda", "meamed", "nnm+krum", "nnm+cwtm"]


def draft(rule, x, f, subset=None, criterion="trace"):
    n = len(x)
    chosen = tuple(range(f, n)) if subset is None else tuple(subset)
    return Witness(rule, n, f, criterion, chosen, fractions(x), Fraction(0), math.inf)


def loops(rule, x, f, subset):
    """The trace ratio from the literal definitions, in fractions."""
    rows = [[Fraction(v) for v in row] for row in x]
    output = naive.evaluate(rule, rows, f)
    honest = [rows[i] for i in subset]
    centre = naive.mean(honest)
    spread = sum(naive.square_distance(row, centre) for row in honest) / len(honest)
    return naive.square_distance(output, centre) / spread


@given(st.sampled_from(RATIONAL_RULES), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_rational_rules_are_replayed_exactly(rule, seed):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(3, 8))
    f = int(generator.integers(0, (n - 1) // 2 + 1))
    x = generator.integers(-9, 10, (n, 2))
    x[-1] = x[-2] + 1
    subset = range(f, n)
    settled = settle(draft(rule, x, f))
    assert settled.ratio == loops(rule, x.tolist(), f, subset)
    assert replay(settled).verdict == "exact"
    raised = dataclasses.replace(settled, lower=settled.lower + Fraction(1, 10**30), upper=settled.lower + 1)
    assert replay(raised).verdict == "differs"


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("rule", ["krum", "gm", "nnm+gm", "bucketing(s=2)+gm"])
def test_every_criterion_agrees_with_the_ratio_of_the_rules(rule, criterion):
    from kappaguard.rules.names import parse

    x = np.random.default_rng(0).integers(-8, 9, (9, 3)) / 8
    settled = settle(draft(rule, x, 2, criterion=criterion))
    value = float(rules_ratio(parse(rule, 2)(x), x, range(2, 9), criterion))
    assert float(settled.lower) == pytest.approx(value, rel=1e-9)
    assert float(settled.upper - settled.lower) <= 1e-12 * value
    assert replay(settled).reproduces


@pytest.mark.parametrize("n", [3, 4, 7, 10, 17])
def test_the_papers_extremal_inputs(n):
    for f in range(1, (n - 1) // 2 + 1):
        universal = draft("cwtm", [[0]] * (n - f) + [[1]] * f, f, range(f, n))
        assert settle(universal).ratio == Fraction(f, n - 2 * f)
        low = (n - f) // 2
        for rule in ("gm", "cwmed", "krum"):
            specific = draft(rule, [[-1]] * low + [[1]] * (n - low), f, range(n - f))
            expected = Fraction(1) if (n - f) % 2 == 0 else Fraction(n - f - 1, n - f + 1)
            assert settle(specific).ratio == expected


def test_an_infinite_ratio():
    settled = settle(draft("average", [[1], [0], [0]], 1))
    assert settled.ratio == math.inf
    assert replay(settled).verdict == "exact"
    assert not replay(draft("cwmed", [[1], [0], [0]], 1)).lower
    wrong = dataclasses.replace(settled, rule="cwmed")
    assert replay(wrong).verdict == "differs"


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "enclosed"),
        ({"rule": "cwmed"}, "differs"),
        ({"subset": (0, 1, 2, 3, 4)}, "differs"),
        ({"criterion": "diameter"}, "differs"),
        ({"x": "first entry"}, "differs"),
        ({"lower": "up", "upper": "up"}, "differs"),
        ({"upper": "down", "lower": "down"}, "differs"),
    ],
)
def test_tampering_with_an_enclosed_witness(change, verdict):
    x = np.random.default_rng(1).integers(-9, 10, (7, 2))
    settled = settle(draft("gm", x, 2))
    values = {"up": settled.upper * Fraction(1001, 1000), "down": settled.lower * Fraction(999, 1000)}
    if "x" in change:
        change = {"x": ((settled.x[0][0] + 1, *settled.x[0][1:]), *settled.x[1:])}
    change = {key: values.get(value, value) if isinstance(value, str) else value for key, value in change.items()}
    assert replay(dataclasses.replace(settled, **change)).verdict == verdict


def test_rules_without_exact_arithmetic_are_replayed_in_floats(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("def third(x):\n    return x[2] * 1.5\n\n\ndef broken(x):\n    raise ValueError('no\\nluck')\n")
    settled = settle(draft(f"{file}:third", [[0.5], [1.25], [3.0]], 1))
    assert settled.ratio == (Fraction(9, 2) - Fraction(17, 8)) ** 2 / Fraction(49, 64)
    result = replay(settled)
    assert (result.verdict, result.method) == ("float", "float")
    failed = replay(dataclasses.replace(settled, rule=f"{file}:broken"))
    assert (failed.verdict, failed.lower) == ("differs", None)
    assert "ValueError" in failed.fault
    assert replay(settle(draft("smea", [[0, 1], [1, 0], [3, 3]], 1))).verdict == "float"
    with pytest.raises(InputError, match="too large for a float"):
        replay(dataclasses.replace(settled, x=fractions([[0], [1], [10**390]])))


@pytest.mark.parametrize(
    ("rule", "note", "verdict"),
    [
        ("picky", "no vector: the rule raised ValueError", "float"),
        ("picky", "", "differs"),
        ("picky", "it raised", "differs"),
        ("refuses", "", "differs"),
        ("refuses", "no vector: the rule raised ValueError", None),
        ("middle", "no vector: the rule raised ValueError", "differs"),
    ],
)
def test_an_exception_is_a_proof_only_of_a_rule_that_runs_and_a_record_that_says_so(tmp_path, rule, note, verdict):
    file = tmp_path / "own.py"
    file.write_text(
        "def middle(x):\n    return sorted(x[:, 0])[1] + 0 * x[0]\n\n\n"
        "def picky(x):\n    if x[1, 0] == x[2, 0]:\n        raise ValueError('equal')\n    return middle(x)\n\n\n"
        "def refuses(x):\n    raise ValueError('always')\n"
    )
    seen = draft(f"{file}:{rule}", [[0], [1], [1]], 1)
    seen = dataclasses.replace(seen, lower=math.inf, upper=math.inf, note=note)
    if verdict is None:
        with pytest.raises(InputError, match="does not run at n = 3 and f = 1"):
            replay(seen)
    else:
        assert replay(seen).verdict == verdict


@pytest.mark.parametrize("rule", ["math:sqrt", "os:system"])
def test_code_that_is_no_rule_proves_nothing(rule, tmp_path, capsys):
    for note, status in (("", 1), ("no vector: the rule raised TypeError", 2)):
        seen = dataclasses.replace(draft(rule, [[0], [1], [1]], 1), lower=math.inf, upper=math.inf, note=note)
        assert main(["replay", "--run-code", str(seen.save(tmp_path))]) == status
    output, complaint = capsys.readouterr()
    assert "reproduced" not in output
    where, _, attribute = rule.partition(":")
    said = complaint.splitlines()
    assert said[:2] == [f"kappaguard: importing {where} (to call {attribute})"] * 2
    assert len(said) == 3


@pytest.mark.parametrize(
    "rule", ["subprocess:Popen(args='touch pwned', shell=True)", "mine.py:rule", "nnm+mine.py:rule"]
)
def test_a_replay_runs_no_code_unless_it_is_told_to(rule, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import pathlib\n\npathlib.Path('pwned').touch()\n")
    path = draft(rule, [[0], [1], [1]], 1).save(tmp_path)
    assert main(["replay", str(path)]) == 2
    output, complaint = capsys.readouterr()
    assert (output, complaint.count("\n")) == ("", 1)
    assert "--run-code" in complaint
    assert ("imports subprocess (to call Popen)" if "Popen" in rule else "imports mine.py") in complaint
    assert not (tmp_path / "pwned").exists()


def test_the_command_line_on_a_rule_that_hangs_or_prints(tmp_path, capfd):
    file = tmp_path / "own.py"
    file.write_text(
        "import os\nimport time\n\n\ndef hangs(x):\n    time.sleep(1000)\n\n\n"
        "def prints(x):\n    os.write(1, b'raw')\n    return x[2] * 1.5\n"
    )
    path = draft(f"{file}:hangs", [[0], [1], [1]], 1).save(tmp_path)
    assert main(["replay", "--run-code", str(path), "--timeout", "4", "--json"]) == 2
    output, complaint = capfd.readouterr()
    assert (output, complaint.count("\n")) == ("", 2)
    assert "did not return within 4 s" in complaint
    path = settle(draft(f"{file}:prints", [[0.5], [1.25], [3.0]], 1)).save(tmp_path)
    capfd.readouterr()
    assert main(["replay", "--run-code", str(path), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["verdict"] == "float"
    assert main(["replay", str(path), "--timeout", "0"]) == 2


def test_a_rule_of_byzfl():
    if importlib.util.find_spec("byzfl") is None:
        pytest.skip("ByzFL is not installed")
    x = np.random.default_rng(2).integers(-9, 10, (6, 2))
    settled = settle(draft("byzfl:TrMean", x, 1))
    assert replay(settled).verdict == "float"
    assert float(settled.lower) == pytest.approx(float(loops("cwtm", x.tolist(), 1, range(1, 6))), rel=1e-6)


def test_the_command_line(tmp_path, capsys):
    settled = settle(draft("krum", [[-1], [-1], [1], [1], [1]], 1, range(4)))
    path = settled.save(tmp_path)
    assert main(["replay", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "krum" in printed
    assert "reproduced" in printed
    assert main(["replay", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer.keys() >= {
        "rule",
        "n",
        "f",
        "lower",
        "upper",
        "verdict",
        "witness",
        "seconds",
        "evaluations",
        "seed",
        "version",
    }
    assert (answer["rule"], answer["n"], answer["f"], answer["lower"], answer["upper"]) == ("krum", 5, 1, 1.0, 1.0)
    assert answer["exact"] == {"lower": "1", "upper": "1"}
    assert (answer["verdict"], answer["seed"], answer["version"]) == ("exact", None, __version__)
    assert answer["witness"] == str(path)


def test_the_command_line_on_a_witness_that_lies(tmp_path, capsys):
    settled = settle(draft("krum", [[-1], [-1], [1], [1], [1]], 1, range(4)))
    path = dataclasses.replace(settled, lower=Fraction(2), upper=Fraction(2)).save(tmp_path)
    assert main(["replay", str(path)]) == 1
    assert "differs" in capsys.readouterr().out
    assert main(["replay", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "differs"


def test_an_infinite_ratio_is_valid_json(tmp_path, capsys):
    path = settle(draft("average", [[1], [0], [0]], 1)).save(tmp_path)
    assert main(["replay", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert answer["lower"] == answer["upper"] == "inf"


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[" * 100_000, '{"schema": "kappaguard-witness/1"}', "\ud800".encode("utf-16", "surrogatepass")],
)
def test_the_command_line_on_a_bad_file(content, tmp_path, capsys):
    path = tmp_path / "w.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for arguments in ([str(path)], [str(path), "--json"], [str(tmp_path / "none")]):
        assert main(["replay", *arguments]) == 2
        output, complaint = capsys.readouterr()
        assert output == ""
        assert complaint.count("\n") == 1


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("krumm", "did you mean krum"),
        ("no.such.module:rule", "no"),
        ("krum(g=1)", "no parameter"),
        ("cwtm(f=9)", "f < n/2"),
    ],
)
def test_the_command_line_on_a_rule_that_there_is_not(rule, said, tmp_path, capsys):
    path = draft(rule, [[0], [1], [2]], 1).save(tmp_path)
    assert main(["replay", str(path)]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1


def test_the_judge_imports_no_finder():
    seen = "[m for m in sys.modules if 'search' in m or m == 'cvxpy']"
    code = f"import sys, kappaguard.verify.judge.replay; print({seen})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # the package of the finders itself is empty, and is there because kg.search can be called
    assert [name for name in ast.literal_eval(result.stdout) if name.startswith(("kappaguard.search.", "cvxpy"))] == []
