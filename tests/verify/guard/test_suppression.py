"""Findings that a project expects are hidden by name and with a reason; what refutes a claim never is."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.guard.configuration import from_toml

pytestmark = pytest.mark.solver


def shifted(x):
    """Knows where the origin is."""
    return np.median(x, axis=0) * (1 + 1e-6)


def names(verdict):
    return {finding.check for finding in verdict.findings}


def test_a_suppressed_finding_is_hidden_with_its_reason():
    plain = kg.check(shifted, 5, 1, 1e9, evaluations=50, witnesses=None)
    assert "translation" in names(plain)
    expected = dict.fromkeys(sorted(names(plain)), "measured, and harmless here")
    quiet = kg.check(shifted, 5, 1, 1e9, evaluations=50, witnesses=None, strict=True, suppress=expected)
    assert quiet.findings == ()
    assert dict(quiet.suppressed) == expected
    assert quiet.holds
    loud = kg.check(shifted, 5, 1, 1e9, evaluations=50, witnesses=None, strict=True)
    assert not loud.holds


def test_what_refutes_a_claim_is_not_suppressed():
    verdict = kg.check(lambda x: x.mean(axis=0), 5, 1, 2, witnesses=None, suppress={"zero-variance": "we know"})
    assert verdict.verdict == "refuted"
    assert verdict.suppressed == ()
    assert "zero-variance" in names(verdict)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"translations": "why not"}, "did you mean translation"),
        ({"translation": ""}, "takes a reason"),
        ({"translation": 5}, "takes a reason"),
        (["translation"], "a table of checks with reasons"),
    ],
)
def test_a_name_that_is_no_check_and_a_missing_reason_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        kg.check("krum", 5, 1, suppress=given)


def test_the_configuration_suppresses_for_all_rules_and_for_one():
    settings = from_toml(
        """
        [tool.kappaguard]
        grid = [[5, 1]]
        suppress = { offset = "float32 on purpose" }
        rules = ["krum", { rule = "cwmed", suppress = { rotation = "by coordinates" } }]
        """
    )
    krum, cwmed = settings.checks
    assert dict(krum.suppress) == {"offset": "float32 on purpose"}
    assert dict(cwmed.suppress) == {"offset": "float32 on purpose", "rotation": "by coordinates"}


def test_the_command_line_shows_what_was_suppressed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import numpy as np\n\ndef rule(x):\n    return np.median(x, 0) * (1 + 1e-6)\n")
    command = ["check", "mine.py:rule", "-n", "5", "-f", "1", "--claim", "1e9", "--evaluations", "50", "--strict"]
    assert main(command) == 1
    found = [line.split(":")[1].strip() for line in capsys.readouterr().out.splitlines() if "health, warns" in line]
    assert "translation" in found
    for name in found:
        command += ["--suppress", f"{name}=small on purpose"]
    assert main(command) == 0
    assert "health, suppressed: translation: small on purpose" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suppressed"]["translation"] == "small on purpose"
