"""``kappaguard check``: exit codes, tables and files, the configuration, and the replay of known witnesses."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import subprocess
import sys
import time
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from kappaguard import __version__
from kappaguard.cli import main
from kappaguard.rules.witness import load
from kappaguard.search.stats import Stats
from kappaguard.verify.judge.result import KappaResult

pytestmark = [pytest.mark.solver, pytest.mark.usefixtures("without_torch")]

KEYS = {"rule", "n", "f", "lower", "upper", "verdict", "witness", "seconds", "evaluations", "seed", "version"}
MINE = """import numpy as np


def good(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def bad(x, f):
    return x.mean(axis=0)


def odd(x, f):
    if np.ptp(x[f:]) == 0:
        raise ValueError("\\x1b[31m<b>&]]>::error::%0A [red] | `x`")
    return good(x, f)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "KAPPAGUARD_EVALUATIONS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def run(capsys, *arguments):
    status = main(["check", *arguments])
    output, complaint = capsys.readouterr()
    return status, output, complaint


@pytest.mark.parametrize(
    ("arguments", "status", "verdict"),
    [
        (["krum", "-n", "7", "-f", "2"], 0, "proved"),
        (["krum", "-n", "7", "-f", "2", "--claim", "1"], 1, "refuted"),
        (["cwtm", "-n", "7", "-f", "2", "--claim", "f/(n-2*f)"], 0, "proved"),
        (["average", "-n", "7", "-f", "2", "--claim", "100"], 1, "refuted"),
        (["mine.py:good", "-n", "7", "-f", "2", "--claim", "f/(n-2*f)", "--evaluations", "2000"], 0, "proved"),
        (["mine.py:good", "-n", "7", "-f", "2", "--claim", "f/(n-2*f)-1/100", "--evaluations", "2000"], 1, "refuted"),
        (["mine.py:bad", "-n", "7", "-f", "2", "--claim", "100"], 1, "refuted"),
    ],
)
def test_verdicts_and_exit_codes(project, capsys, arguments, status, verdict):
    found, output, complaint = run(capsys, *arguments, "--json", "--seed", "3")
    assert (found, complaint) == (status, "")
    answer = json.loads(output, parse_constant=pytest.fail)
    assert answer.keys() >= KEYS
    assert (answer["rule"], answer["n"], answer["f"]) == (arguments[0], 7, 2)
    assert (answer["verdict"], answer["seed"], answer["version"]) == (verdict, 3, __version__)
    if status:
        witness = load(project / answer["witness"])
        assert witness.lower > 0
        code = ["--run-code"] if ":" in arguments[0] else []
        assert main(["replay", *code, answer["witness"]]) == 0
    else:
        assert answer["witness"] is None


def test_the_table_the_matrix_and_the_path(project, capsys):
    status, output, _ = run(capsys, "mine.py:bad", "-n", "5", "-f", "1", "--claim", "2")
    assert status == 1
    assert "mine.py:bad" in output
    (path,) = re.findall(r"^witness: (.*)$", output, re.MULTILINE)
    assert (project / path).is_file()
    assert "Byzantine" in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "[tool.kappaguard]"),
        (["krum"], "-n and -f"),
        (["krum", "-n", "7"], "-n and -f"),
        (["-n", "7", "-f", "2"], "RULE"),
        (["krumm", "-n", "7", "-f", "2"], "did you mean krum"),
        (["krum", "-n", "seven", "-f", "2"], "-n"),
        (["krum", "-n", "7", "-f", "4"], "f < n/2"),
        (["krum", "-n", "7", "-f", "2", "--claim", "__import__('os')"], "not allowed"),
        (["krum", "-n", "7", "-f", "2", "--claim", "1/(n-7)"], "divides by zero"),
        (["krum", "-n", "7", "-f", "2", "--evaluations", "0"], "--evaluations"),
        (["krum", "-n", "7", "-f", "2", "--evaluations", "1e3"], "--evaluations"),
        (["krum", "-n", "7", "-f", "2", "--budget", "3"], "--budget"),
        (["krum", "-n", "7", "-f", "2", "--jobs", "-1"], "jobs"),
        (["krum", "-n", "7", "-f", "2", "--memory", "1"], "--memory"),
        (["krum", "-n", "7", "-f", "2", "--timeout", "-1"], "--timeout"),
        (["krum", "-n", "7", "-f", "2", "--tolerance", "2"], "--tolerance"),
        (["krum", "-n", "7", "-f", "2", "--junit", "mine.py/x"], "cannot write"),
        (["mine.py:bad", "-n", "7", "-f", "2"], "--claim"),
        (["mine.py:none", "-n", "7", "-f", "2", "--claim", "1"], "no attribute"),
        (["none.py:rule", "-n", "7", "-f", "2", "--claim", "1"], "does not exist"),
        (["none.py:rule", "-n", "7", "-f", "2"], "file none.py does not exist"),
        (["nnm+none.py:rule", "-n", "7", "-f", "2"], "file none.py does not exist"),
        (["average", "-n", "7", "-f", "2"], "no coefficient"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_wrong_request_is_one_line(project, capsys, arguments, said, as_json):
    status, output, complaint = run(capsys, *arguments, *(["--json"] if as_json else []))
    assert status == 2
    assert "Traceback" not in complaint
    assert complaint.count("\n") == 1
    assert said in complaint
    if "--junit" not in arguments:
        assert output == ""


GRID = """
[tool.kappaguard]
grid = [[5, 1]]
evaluations = 200
seed = 4
rules = [
    "cwtm",
    { rule = "mine.py:good", claim = "f/(n-2*f)", grid = [[5, 1], [3, 1]] },
    { rule = "mine.py:bad", claim = "2" },
]
"""


def test_a_grid_from_the_configuration(project, capsys):
    (project / "pyproject.toml").write_text(GRID)
    status, output, complaint = run(capsys, "--json")
    assert (status, complaint) == (1, "")
    answer = json.loads(output)
    seen = [(each["rule"], each["n"], each["f"], each["verdict"]) for each in answer["checks"]]
    assert seen == [
        ("cwtm", 5, 1, "proved"),
        ("mine.py:good", 5, 1, "proved"),
        ("mine.py:good", 3, 1, "proved"),
        ("mine.py:bad", 5, 1, "refuted"),
    ]
    assert {each["seed"] for each in answer["checks"]} == {4}
    # mended: the witness is replayed, and told to be fixed
    (project / "mine.py").write_text(MINE.replace("return x.mean(axis=0)", "return good(x, f)"))
    status, output, _ = run(capsys)
    assert status == 0
    assert re.search(r"^fixed: mine-py-bad-n5-f1-\w+\.json no longer violates", output, re.MULTILINE)


def test_warnings_of_a_grid_are_told_once(project, capsys):
    (project / "mine.py").write_text(MINE + "\n\ndef sorting(x, f):\n    x.sort(axis=0)\n    return good(x, f)\n")
    (project / "pyproject.toml").write_text(
        "[tool.kappaguard]\ngrid = [[5, 1], [7, 2]]\nevaluations = 200\n"
        'rules = [{rule = "mine.py:sorting", claim = "2"}]\n'
    )
    status, output, _ = run(capsys)
    assert status == 0
    (line,) = (line for line in output.splitlines() if "warns: purity" in line)
    assert line.startswith("mine.py:sorting at (5, 1), (7, 2) warns: purity: the call changed")


def test_a_wrong_entry_does_not_hide_the_others(project, capsys):
    (project / "pyproject.toml").write_text(
        '[tool.kappaguard]\ngrid = [[5, 1]]\nrules = ["krumm", "cwtm", {rule = "mine.py:bad", claim = "2"}]\n'
    )
    status, output, complaint = run(capsys, "--json", "--jobs", "1")
    assert status == 1
    assert "did you mean krum" in complaint
    answer = json.loads(output)
    assert [each["verdict"] for each in answer["checks"]] == ["proved", "refuted"]
    assert len(answer["errors"]) == 1
    (project / "pyproject.toml").write_text('[tool.kappaguard]\ngrid = [[5, 1]]\nrules = ["krumm", "cwtm"]\n')
    assert run(capsys)[0] == 2


def test_junit(project, capsys):
    (project / "pyproject.toml").write_text(
        '[tool.kappaguard]\ngrid = [[5, 1]]\nrules = ["cwtm", "krumm", {rule = "mine.py:odd", claim = "2"}]\n'
    )
    assert run(capsys, "--junit", "out/report.xml")[0] == 1
    suite = ElementTree.parse(project / "out" / "report.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    (failure,) = suite.iter("failure")
    assert "\\x1b[31m<b>&]]>" in failure.text
    assert "\x1b" not in failure.text


def test_sarif(project, capsys):
    assert run(capsys, "mine.py:odd", "-n", "5", "-f", "1", "--claim", "2", "--sarif", "report.sarif")[0] == 1
    log = json.loads((project / "report.sarif").read_text())
    assert log["version"] == "2.1.0"
    (one,) = log["runs"]
    known = {rule["id"] for rule in one["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in one["results"]} <= known
    violation = next(result for result in one["results"] if result["ruleId"] == "kappa/claim")
    assert violation["level"] == "error"
    location = violation["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "mine.py"
    assert location["region"]["startLine"] >= 1
    assert (project / violation["properties"]["witness"]).is_file()
    assert all(result["message"]["text"].isprintable() for result in one["results"])


def test_annotations_in_a_workflow(project, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    status, output, _ = run(capsys, "mine.py:odd", "-n", "5", "-f", "1", "--claim", "2")
    assert status == 1
    commands = [line for line in output.splitlines() if line.startswith("::")]
    assert commands[0].startswith("::error file=mine.py,line=12,title=mine.py%3Aodd at n=5%2C f=1::kappa* >= inf > 2; ")
    # what the rule says cannot start a command of its own
    assert not any(line.startswith("::error::") for line in output.splitlines())
    assert all("%250A" in line for line in commands if "<b>" in line)
    status, output, complaint = run(capsys, "mine.py:odd", "-n", "5", "-f", "1", "--claim", "2", "--json")
    assert json.loads(output)["verdict"] == "refuted"
    assert complaint.startswith("::error ")


def test_messages_of_a_rule_are_shown_and_not_obeyed(project, capsys):
    status, output, _ = run(capsys, "mine.py:odd", "-n", "5", "-f", "1", "--claim", "2")
    assert status == 1
    assert "\x1b" not in output
    assert "[red] | `x`" in output


def test_a_hanging_rule_is_told_in_one_line(project, capsys):
    (project / "slow.py").write_text("import time\n\n\ndef rule(x):\n    time.sleep(60)\n")
    status, output, complaint = run(
        capsys, "slow.py:rule", "-n", "5", "-f", "1", "--claim", "2", "--timeout", "3", "--json"
    )
    assert status == 2
    answer = json.loads(output)
    assert answer["verdict"] == "unfinished"
    assert answer["trouble"].endswith("; --timeout raises this limit, and fewer --evaluations need less")
    assert complaint == f"kappaguard: slow.py:rule: {answer['trouble']}\n"


def test_witnesses_elsewhere(project, capsys):
    arguments = ["average", "-n", "5", "-f", "1", "--claim", "2", "--witnesses", "kept"]
    assert run(capsys, *arguments)[0] == 1
    assert len(list((project / "kept").iterdir())) == 1
    (project / "kept" / "bad.json").write_text("{")
    status, output, complaint = run(capsys, *arguments)
    assert status == 1
    assert "the known witness" in output
    assert "rejected: " in complaint
    assert not (project / ".kappaguard").exists()


def test_the_process_itself(project):
    command = [sys.executable, "-m", "kappaguard", "check", "average", "-n", "5", "-f", "1", "--claim", "2"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=project)
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.parametrize("grid", [False, True])
def test_an_interrupt_is_one_line(project, grid):
    (project / "slow.py").write_text(
        "import pathlib\nimport time\n\n\ndef rule(x):\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n"
    )
    (project / "pyproject.toml").write_text(
        '[tool.kappaguard]\ngrid = [[5, 1], [7, 1], [9, 1]]\nrules = [{rule = "slow.py:rule", claim = "2"}]\n'
    )
    asked = ["--jobs", "2"] if grid else ["slow.py:rule", "-n", "5", "-f", "1", "--claim", "2"]
    command = [sys.executable, "-m", "kappaguard", "check", *asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=project) as process:
        deadline = time.monotonic() + 30
        while not (project / "begun").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, complaint = process.communicate(timeout=25)
    assert (process.returncode, output) == (130, "")
    assert complaint == "kappaguard: interrupted, nothing was decided\n"


def test_an_interrupted_search_is_no_verdict(project, capsys, monkeypatch):
    def interrupted(*_, **__):
        return KappaResult("?", 5, 1, Fraction(0), None, None, None, None, Stats(0.1, interrupted=True))

    monkeypatch.setattr("kappaguard.verify.judge.search.search", interrupted)
    status, output, complaint = run(capsys, "monna", "-n", "5", "-f", "0", "--claim", "2")
    assert (status, output) == (130, "")
    assert complaint == "kappaguard: interrupted, nothing was decided\n"


def test_rotation_is_asked_for(project, capsys):
    arguments = ["mine.py:good", "-n", "5", "-f", "1", "--claim", "1", "--evaluations", "200", "--json"]
    found = [json.loads(run(capsys, *arguments, *more)[1])["health"] for more in ([], ["--rotates"])]
    assert [[each["check"] for each in health] for health in found] == [[], ["rotation"]]
    # a finding comes with an example that shows it
    x = found[1][0]["example"]["x"]
    assert (len(x), len(x[0])) == (5, 3)


@pytest.mark.skipif(importlib.util.find_spec("byzfl") is None, reason="byzfl is not installed")
def test_a_peer_as_it_is(project, capsys, monkeypatch):
    """The README's example: the claim is the paper's, without being stated."""
    monkeypatch.delenv("PYTHONPATH")
    status, output, _ = run(capsys, "byzfl:GeometricMedian", "-n", "10", "-f", "2")
    assert status == 1
    assert "refuted: kappa* <= 4*(1+f/(n-2*f))**2 = 7.11111 for byzfl:GeometricMedian at n = 10, f = 2" in output
    (path,) = re.findall(r"^witness: (.*)$", output, re.MULTILINE)
    assert path == ".kappaguard/witnesses/byzfl-geometricmedian-n10-f2-03e2fbc50c.json"
    assert main(["replay", "--run-code", path]) == 0
