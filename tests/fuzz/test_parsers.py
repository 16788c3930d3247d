"""Whatever a stranger writes gives a result or exit code 2 with one line, never a traceback.

RULE, EXPR, witness files, certificates and the section of pyproject.toml: as the command line takes them, from noise
and from things that are almost right.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kappaguard as kg
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import Witness, from_json
from kappaguard.verify.guard.check import name_of
from kappaguard.verify.guard.claim_check import ClaimCheck
from kappaguard.verify.guard.claimed import counterpart
from kappaguard.verify.guard.configuration import GuardSettings, from_toml
from kappaguard.verify.judge.checker import Checked, check
from kappaguard.verify.judge.rejected import Rejected
from kappaguard.verify.judge.replay import settle
from kappaguard.verify.judge.subject import Subject, subject_of

MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])

NOISE = "krumncwtgf+():=,.0123456789 _[]{}'\"\\\n\t\0é*/-%<>|&\u202e\udc80\ud800"
ANYTHING = st.text(max_size=60) | st.text(NOISE, max_size=60)


def run(*arguments):
    """The exit code, and what was printed."""
    output, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(complaint):
        status = main(list(arguments))
    return status, output.getvalue(), complaint.getvalue()


def fine(status, output, complaint, allowed=(0, 1, 2)):
    """A result, or exit code 2 with one line."""
    assert status in allowed
    assert "Traceback" not in output + complaint
    if status == 2:
        assert complaint.count("\n") == 1


NAMES = st.sampled_from(["krum", "cwtm", "gm", "nnm", "bucketing", "average", "multikrum", "", "krumm", "NNM"])
OPTIONS = st.sampled_from(
    [
        "",
        "()",
        "(s=2)",
        "(s=0)",
        "(s=-1)",
        "(m=3)",
        "(f=1)",
        "(f=9)",
        "(s='a')",
        "(s=2,s=3)",
        "(**{})",
        "(s=[[[1]]])",
        "(s=1e400)",
        "(s=None)",
        "(s=True)",
        "((",
        "(s=2",
        ")",
        "(tau=nan)",
        "(permutation=(0, 0))",
        "(seed=-1)",
    ]
)
PLACES = st.sampled_from(["no.such.module", "no/such/file.py", ".", "", "1a", "byzfl", "flwr", "a b", "x" * 300, "..a"])
ATTRIBUTES = st.sampled_from(["Krum", "nope", "", "a.b", "1", "__doc__", "é"])
STAGES = st.builds("{}{}".format, NAMES, OPTIONS) | st.builds("{}:{}{}".format, PLACES, ATTRIBUTES, OPTIONS)
SPECS = st.lists(STAGES, min_size=1, max_size=4).map("+".join) | ANYTHING


@given(SPECS)
@MANY
def test_rules(text):
    try:
        found = subject_of(text, 7, 2)
    except InputError:
        pass
    else:
        assert isinstance(found, Subject)
    with contextlib.suppress(InputError):
        assert name_of(ClaimCheck(text, 7, 2))
    with contextlib.suppress(InputError):
        counterpart(text)


@given(SPECS)
@FEW
def test_rules_on_the_command_line(text):
    # a claim that is no expression ends every request that gets that far
    with tempfile.TemporaryDirectory() as folder:
        fine(*run("check", "-n", "7", "-f", "2", "--claim", "n+", "--witnesses", folder, "--", text), allowed=(2,))


PIECES = [*"nf0179.+-*/%()[],:", "**", "//", "sqrt", "min", "max", "ceil", " ", "1e9", "__import__", "lambda"]
TOKENS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(TOKENS | ANYTHING)
@SOME
def test_expressions_on_the_command_line(text):
    with tempfile.TemporaryDirectory() as folder:
        # the average breaks every claim, and does so at once
        fine(*run("check", "average", "-n", "5", "-f", "1", "--claim", text, "--witnesses", folder), allowed=(1, 2))


WITNESS = settle(kg.exact("cwmed", 5, 1).witness).to_json()
CERTIFICATE = kg.exact("cwmed", 5, 1).certificate
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 10**30)
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["inf", "1/0", "9" * 5000, "-1/3", "cwmed", "cwmed+", [], {}, [[]], [["1"]], [0, 1, 2], "nan"])
)


@st.composite
def damaged(draw, text):
    """A file with some of its parts replaced, removed or added, or cut, or with bytes changed."""
    kind = draw(st.sampled_from(["parts", "cut", "bytes", "noise", "deep"]))
    if kind == "noise":
        return draw(st.binary(max_size=200))
    if kind == "deep":
        return b"[" * draw(st.integers(1, 10**5)) + b"]"
    raw = text.encode()
    if kind == "cut":
        return raw[: draw(st.integers(0, len(raw)))]
    if kind == "bytes":
        place = draw(st.integers(0, len(raw) - 1))
        return raw[:place] + draw(st.binary(min_size=1, max_size=3)) + raw[place + 1 :]
    data = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from([*data, "surplus"]))
        change = draw(st.sampled_from(["replace", "remove"]))
        if change == "remove":
            data.pop(key, None)
        else:
            data[key] = draw(VALUES)
        if not data:
            break
    return json.dumps(data).encode()


@given(damaged(WITNESS))
@MANY
def test_witnesses(content):
    with contextlib.suppress(InputError, UnicodeDecodeError):
        assert isinstance(from_json(content.decode()), Witness)


@given(damaged(WITNESS))
@SOME
def test_witness_files(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.json"
        path.write_bytes(content)
        fine(*run("replay", str(path)))


@given(damaged(CERTIFICATE))
@MANY
def test_certificates(content):
    with contextlib.suppress(Rejected, UnicodeDecodeError):
        assert isinstance(check(content.decode()), Checked)


@given(damaged(CERTIFICATE))
@SOME
def test_certificate_files(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.certificate.json"
        path.write_bytes(content)
        status, output, complaint = run("replay", str(path))
        fine(status, output, complaint)
        if status == 0 and json.loads(content) != json.loads(CERTIFICATE):
            # what is still accepted proves no more than before
            assert Fraction(json.loads(content)["upper"]) >= Fraction(json.loads(CERTIFICATE)["upper"])


@given(damaged(WITNESS))
@SOME
def test_files_among_the_known_witnesses(content):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "known.json").write_bytes(content)
        status, output, complaint = run("check", "cwmed", "-n", "5", "-f", "1", "--json", "--witnesses", folder)
        # no file changes what is true
        assert (status, complaint) == (0, "")
        assert json.loads(output)["verdict"] == "proved"


ENTRIES = st.sampled_from(
    [
        '"krum"',
        "3",
        "[]",
        "{}",
        '{rule = "gm"}',
        '{rule = "gm", claim = "1/0"}',
        '{rule = "gm", grid = [[3, 1]]}',
        "true",
        '{rule = "", claim = 1}\n    ',
        '{rule = "gm", tolerance = -1}',
        "1979-05-27",
        "nan",
        '{rule = "gm", claim = inf}',
    ]
)
KEYS = st.sampled_from(["rules", "grid", "evaluations", "seed", "timeout", "memory", "jobs", "witnesses", "surplus"])
SETTINGS = st.sampled_from(
    ["[[5, 1]]", "[[5]]", "[]", "0", "-1", "1", "1e400", "nan", "inf", '"x"', "true", "[[[[1]]]]", "9" * 400, "2e2"]
)
LINES = st.lists(
    st.builds("{} = {}".format, KEYS, SETTINGS)
    | st.builds("rules = [{}]".format, st.lists(ENTRIES, max_size=3).map(", ".join))
    | st.text(max_size=20),
    max_size=5,
)
SECTION = LINES.map(lambda lines: "\n".join(["[tool.kappaguard]", *lines]))


@given(SECTION | ANYTHING)
@example(f"[tool.kappaguard]\nevaluations = {'9' * 400}")
@example(f"[tool.kappaguard]\ntimeout = {'9' * 400}")
@example(f"[tool.kappaguard]\nmemory = {'9' * 400}")
@MANY
def test_configurations(text):
    with contextlib.suppress(InputError):
        assert isinstance(from_toml(text), GuardSettings)


@pytest.mark.parametrize(
    "arguments",
    [
        [b"\xff\xfe", b"-n", b"5", b"-f", b"1"],
        [b"krum", b"-n", b"5", b"-f", b"1", b"--claim", b"\x80"],
        [b"\xc3\x28.py:rule", b"-n", b"5", b"-f", b"1", b"--claim", b"1"],
        [b"krum", b"-n", b"99999999999999999999999", b"-f", b"1"],
        [b"krum", b"-n", b"5", b"-f", b"1", b"--junit", b"\xff/\xff"],
    ],
)
@pytest.mark.solver
def test_bytes_that_are_no_text(arguments, tmp_path):
    """As an operating system may hand them over, to a terminal that knows only ASCII."""
    command = [os.fsencode(sys.executable), b"-m", b"kappaguard", b"check", *arguments]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    result = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path, env=environment)
    assert result.returncode in (0, 2)
    assert b"Traceback" not in result.stderr
    if result.returncode == 2:
        assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", ["x" * 400, "a\0b", "x" * 5000])
def test_names_that_no_file_can_have(name):
    for arguments in (
        ["replay", name],
        ["check", "cwtm", "-n", "3", "-f", "1", "--witnesses", name],
        ["check", f"{name}.py:rule", "-n", "3", "-f", "1", "--claim", "1"],
        ["check", "cwtm", "-n", "3", "-f", "1", "--junit", name],
        ["stress", "cwtm", "--out", name],
    ):
        status, output, complaint = run(*arguments)
        fine(status, output, complaint, allowed=(2,))


@pytest.mark.parametrize("key", ["evaluations", "timeout", "memory", "seed", "jobs"])
@pytest.mark.parametrize("number", ["9" * 400, "0x" + "f" * 5000])
def test_numbers_beyond_every_limit(key, number):
    """Hexadecimal ones may have more digits than Python is willing to write out."""
    with pytest.raises(InputError, match=rf"^{key} must be") as refused:
        from_toml(f'[tool.kappaguard]\nrules = ["krum"]\ngrid = [[5, 1]]\n{key} = {number}')
    assert len(str(refused.value)) < 200
