"""Exit codes: 0 holds, 1 refuted, 2 the request or the interface is wrong, 3 kappaguard failed; one line each."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest
from typer.main import get_command

from kappaguard.cli import app, main
from kappaguard.cli.progress import is_silent

from .answers import told

pytestmark = pytest.mark.usefixtures("without_torch")

MINE = """import numpy as np


def good(x, f, a=None):
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def bad(x, f):
    return x.mean(axis=0)


def row(x, f):
    return good(x, f)[None]


def raises(x, f):
    return deeper(x)


def deeper(x):
    raise KeyError("mine \\x1b[31m")


def crash(x, f):
    if sorted(x[:, 0])[-3:] == [1, 2, 3]:
        raise ZeroDivisionError("three in a row")
    return good(x, f)


def both(x, f):
    return good(x, f) if isinstance(x, np.ndarray) else x.mean(0)


def stateful(x, f, seen=[0]):
    seen[0] += 1
    return bad(x, f) if seen[0] > 40 else good(x, f)


def nan_is_contagious(x, f):
    return np.median(x, axis=0)
"""
ASKED = ["-n", "7", "-f", "2", "--claim", "9", "--evaluations", "600"]
RUN = {
    "schema": "kappaguard-run/1",
    "rule": "cwmed",
    "n": 3,
    "f": 1,
    "kappa": "1",
    "losses": [["1", "1"], ["1", "-1"]],
    "start": "299/100",
    "messages": [["99/50"], ["2"], ["-2"], ["2"]],
}


@pytest.fixture
def project(project):
    (project / "mine.py").write_text(MINE)
    return project


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "mine.py:good(a={[]:1})", *ASKED],
        ["check", f"mine.py:good(a={'-' * 5000}1)", *ASKED],
        ["check", f"krum(f={'-' * 5000}1)", *ASKED],
        ["exact", "caf", "-n", "99999999999999999999", "-f", "5"],
        ["exact", "krum", "-n", "99999999999999999999", "-f", "5"],
        ["check", "mine.py:row", *ASKED],
        ["check", "none\udcff.py:good", *ASKED],
    ],
)
def test_a_wrong_request_is_one_line_and_2(project, capsys, arguments):
    status, output, complaint = told(capsys, *arguments)
    assert (status, output) == (2, "")
    assert complaint.startswith("kappaguard: ")
    assert complaint.count("\n") == 1
    assert len(complaint) < 600
    assert not (project / ".kappaguard").exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"start": "1e400"}, "'start'"),
        ({"start": "1e100000000"}, "'start'"),
        ({"n": 3.9}, "3.9"),
        ({"n": "3"}, "'n'"),
        ({"n": 10**12, "f": 1}, "'n'"),
        ({"rule": "subprocess:Popen(args='touch pwned', shell=True)"}, "rule of ours"),
        ({"rule": ["cwmed"]}, "rule of ours"),
        ({"losses": {"a": 1}}, "'losses'"),
        ({"messages": [["1/0"]]}, "denominator"),
        ({"kappa": None}, "'kappa'"),
        ({"schema": "kappaguard-run/2"}, "schema"),
    ],
)
def test_a_run_from_a_stranger(project, capsys, changes, said):
    (project / "run.json").write_text(json.dumps(RUN))
    assert told(capsys, "replay", "run.json")[0] == 0
    (project / "run.json").write_text(json.dumps(RUN | changes))
    for code in ([], ["--run-code"]):
        status, output, complaint = told(capsys, "replay", "run.json", *code)
        assert (status, output, complaint.count("\n")) == (2, "", 1)
        assert said in complaint
    assert not (project / "pwned").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
@pytest.mark.parametrize("name", ["witness.json", "it.certificate.json"])
def test_a_pipe_is_not_waited_for(project, capsys, name):
    os.mkfifo(project / name)
    assert told(capsys, "replay", name) == (2, "", f"kappaguard: {name} is not a file\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm here")
def test_a_witness_of_more_than_anybody_can_go_through(project, capsys):
    """SMEA on 26 vectors of which 8 are Byzantine: 1,562,275 subsets, each an eigenvalue of a matrix of fractions."""
    x = [[f"{(7 * i + 3 * k) % 11}/7" for k in range(2)] for i in range(26)]
    given = {"schema": "kappaguard-witness/1", "rule": "smea", "n": 26, "f": 8, "criterion": "trace", "x": x}
    given |= {"subset": list(range(18)), "lower": "1", "upper": "1", "found_by": "", "note": ""}
    (project / "witness.json").write_text(json.dumps(given))
    status, output, complaint = told(capsys, "replay", "witness.json", "--timeout", "2")
    assert (status, output) == (2, "")
    assert complaint == "kappaguard: the replay did not end within 2 s; --timeout raises this limit\n"


@pytest.mark.solver
def test_a_certificate_with_a_huge_bound(project, capsys):
    assert told(capsys, "exact", "krum", "-n", "5", "-f", "1", "--out", "proofs")[0] == 0
    path = project / "proofs" / "krum-n5-f1.certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"upper": "9" * 390}))
    status, output, complaint = told(capsys, "replay", path)
    assert (status, complaint) == (0, "")
    assert "is at most 1.00000000000e+390" in output
    status, output, _ = told(capsys, "replay", path, "--json")
    assert json.loads(output, parse_constant=pytest.fail)["upper"] == "inf"


@pytest.mark.solver
def test_the_path_of_a_rule_need_not_be_utf_8(project, capsys):
    name = os.fsdecode(b"caf\xe9.py")
    (project / name).write_text(MINE)
    assert told(capsys, "check", f"{name}:good", *ASKED)[0] == 0
    status, output, _ = told(capsys, "check", f"{name}:bad", *ASKED, "--json")
    assert status == 1
    assert json.loads(output)["rule"] == "caf\\udce9.py:bad"


@pytest.mark.parametrize("debug", [False, True])
def test_an_error_of_ours_is_3(project, capsys, monkeypatch, debug):
    def broken(*_, **__):
        raise ZeroDivisionError("of our own\nmaking")

    monkeypatch.setattr("kappaguard.verify.judge.exact.exact", broken)
    status = main(["exact", "krum", "-n", "5", "-f", "1", *(["--debug"] if debug else [])])
    _, complaint = capsys.readouterr()
    assert status == 3
    assert complaint.splitlines()[-1].startswith("kappaguard: an error of kappaguard itself: ZeroDivisionError: of our")
    assert ("Traceback" in complaint) is debug
    assert debug or complaint.count("\n") == 1


def test_the_traceback_of_the_users_code_is_shown_and_nothing_of_ours(project, capsys):
    status, output, complaint = told(capsys, "check", "mine.py:raises", *ASKED)
    assert (status, output) == (2, "")
    lines = complaint.splitlines()
    assert [line.rpartition(", in ")[2] for line in lines if line.startswith("  File")] == ["raises", "deeper"]
    assert "does not run at n = 7 and f = 2: it raised KeyError" in lines[-1]
    assert "\x1b" not in complaint
    (project / "broken.py").write_text("import numpy\n\nnumpy.nothing()\n")
    status, _, complaint = told(capsys, "check", "broken.py:rule", *ASKED)
    assert status == 2
    assert 'broken.py", line 3' in complaint
    assert complaint.splitlines()[-1].startswith("kappaguard: ")


@pytest.mark.solver
def test_a_crash_on_finite_input_refutes(project, capsys):
    status, output, _ = told(capsys, "check", "mine.py:crash", "-n", "7", "-f", "2", "--claim", "9")
    assert status == 1
    assert "three in a row" in output


@pytest.mark.solver
def test_a_rule_that_takes_both_is_judged_as_both(project, capsys, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.delenv("PYTHONPATH")
    status, output, _ = told(capsys, "check", "mine.py:both", *ASKED)
    assert status == 1
    assert "on torch tensors" in output
    (path,) = (project / ".kappaguard" / "witnesses").iterdir()
    assert json.loads(path.read_text())["rule"] == "mine.py:both(backend='torch')"
    assert told(capsys, "replay", "--run-code", path)[0] == 0


def test_a_refutation_whose_witness_cannot_be_written_is_told(project, capsys):
    (project / "blocked").touch()
    for rule in ("mine.py:bad", "average"):
        status, output, complaint = told(capsys, "check", rule, *ASKED, "--witnesses", "blocked/witnesses")
        assert status == 1
        assert "refuted: kappa* <= 9" in output
        assert complaint == "kappaguard: no witness is saved: cannot write to blocked/witnesses: Not a directory\n"


def test_an_irreproducible_witness_is_not_saved(project, capsys):
    status, _, complaint = told(capsys, "check", "mine.py:stateful", *ASKED)
    assert status == 1
    assert "no witness is saved: a replay in a new process sees another ratio" in complaint
    assert not (project / ".kappaguard").exists()


@pytest.mark.solver
def test_strict_turns_a_finding_into_1(project, capsys):
    assert told(capsys, "check", "mine.py:nan_is_contagious", *ASKED)[0] == 0
    status, output, _ = told(capsys, "check", "mine.py:nan_is_contagious", *ASKED, "--strict", "--junit", "j.xml")
    assert status == 1
    assert "proved: kappa* <= 9" in output
    assert "1 findings, and every one counts" in (project / "j.xml").read_text()
    (project / "pyproject.toml").write_text(
        "[tool.kappaguard]\ngrid = [[7, 2]]\nevaluations = 600\nstrict = true\n"
        'rules = [{rule = "mine.py:nan_is_contagious", claim = "9"}]\n'
    )
    assert told(capsys, "check")[0] == 1


@pytest.mark.solver
def test_the_same_request_has_the_same_verdict_twice(project, capsys):
    answers = []
    for _ in range(2):
        _, output, _ = told(capsys, "check", "mine.py:good", *ASKED, "--json")
        answer = json.loads(output)
        answer.pop("seconds")
        answers.append(answer)
    assert answers[0] == answers[1]


def test_a_stored_run_of_a_foreign_rule_needs_leave(project, capsys):
    pytest.importorskip("torch")
    (project / "own.py").write_text("from pathlib import Path\n\nPath('pwned').touch()\n")
    folder = project / "run"
    folder.mkdir()
    (folder / "configuration.json").write_text(json.dumps({"rule": "own.py:rule"}))
    for option in ("--resume", "--replay"):
        status, _, complaint = told(capsys, "train", option, folder)
        assert (status, complaint.count("\n")) == (2, 1)
        assert "--run-code" in complaint
    assert not (project / "pwned").exists()


@pytest.mark.parametrize("command", ["exact", "recipe"])
def test_a_trace_that_hangs_ends_at_the_limit_that_was_asked_for(project, capsys, command):
    (project / "hangs.py").write_text("def rule(x, f):\n    while True:\n        pass\n")
    code, out, error = told(capsys, command, "hangs.py:rule", "-n", "7", "-f", "2", "--timeout", "1")
    assert code == 2
    assert not out
    # on a busy machine a second may not even do for the imports
    assert re.fullmatch(
        r"kappaguard: hangs\.py:rule: the rule did not return within 1 s \((the trace|its import)\); "
        r"--timeout raises this limit\n",
        error,
    )


def test_quiet_is_taken_anywhere_and_shows_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--quiet", "search", *SEARCH], ["search", *SEARCH, "-q"]):
        assert main(words) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        assert "kappa* >=" in captured.out
        assert is_silent()
    assert main(["search", *SEARCH]) == 0
    assert not is_silent()


SEARCH = ("cwtm", "-n", "5", "-f", "1", "--evaluations", "50")


def test_an_option_has_one_meaning_and_one_default() -> None:
    """Options that many commands share are described in the same words; those that are not, are listed."""
    shared = {"--seed", "--tolerance", "--address", "--data-dir", "--device", "--json", "--witnesses"}
    told: dict[str, set[str]] = {}
    for command in get_command(app).commands.values():  # type: ignore[attr-defined]
        for parameter in command.params:
            for name in shared & set(parameter.opts):
                told.setdefault(name, set()).add(parameter.help)
    assert set(told) == shared
    assert {name: texts for name, texts in told.items() if len(texts) > 1} == {}
