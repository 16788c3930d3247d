"""The example project passes; a patch that breaks its rule makes it fail with exit code 1 and a witness."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.solver, pytest.mark.usefixtures("without_torch")]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ci-guard"


@pytest.fixture
def project(tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__", ".kappaguard"))
    # as it is, but for one of its two (n, f), which would take as long again
    configuration = (copy / "pyproject.toml").read_text()
    assert "grid = [[10, 2], [17, 4]]" in configuration
    (copy / "pyproject.toml").write_text(configuration.replace("[[10, 2], [17, 4]]", "[[10, 2]]"))
    return copy


def run(project, *command, **environment):
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GITHUB_", "KAPPAGUARD"))
    }
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False, env={**clean, **environment}
    )
    return done.returncode, done.stdout, done.stderr


def check(project, *arguments, **environment):
    return run(project, sys.executable, "-m", "kappaguard", "check", "--evaluations", "300", *arguments, **environment)


def test_it_passes_then_a_patch_breaks_it_then_it_is_fixed(project):
    status, output, complaint = check(project, "--json")
    assert (status, complaint) == (0, "")
    assert {each["verdict"] for each in json.loads(output)["checks"]} == {"proved"}
    assert not (project / ".kappaguard").exists()

    assert run(project, "git", "apply", "break-the-rule.patch")[0] == 0
    status, output, _ = check(project)
    assert status == 1
    witnesses = sorted(path.relative_to(project) for path in (project / ".kappaguard" / "witnesses").iterdir())
    assert len(witnesses) == 1
    assert f"witness: {witnesses[0]}" in output
    assert run(project, sys.executable, "-m", "kappaguard", "replay", "--run-code", str(witnesses[0]))[0] == 0

    assert run(project, "git", "apply", "-R", "break-the-rule.patch")[0] == 0
    status, output, _ = check(project)
    assert status == 0
    assert len(re.findall(r"^fixed: ", output, re.MULTILINE)) == 1


def test_its_own_tests(project):
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kappa-evaluations=300")
    path = f".{os.pathsep}{os.environ['PYTHONPATH']}"
    status, output, _ = run(project, *command, PYTHONPATH=path)
    assert status == 0, output
    assert "2 passed" in output
    run(project, "git", "apply", "break-the-rule.patch")
    status, output, _ = run(project, *command, PYTHONPATH=path)
    assert status == 1
    assert "1 failed, 1 passed" in output
    assert "refuted: kappa* <= f/(n-2*f) = 0.333333 for " in output


def test_the_step_of_the_action(project):
    """The script of action.yml, as bash runs it in a workflow."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    script = next(step["run"] for step in steps if step.get("name") == "Check")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    arguments = "average -n 5 -f 1 --claim 2"
    shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
    status, output, _ = run(project, *shell, PATH=path, KAPPAGUARD_ARGUMENTS=arguments, GITHUB_ACTIONS="true")
    assert status == 1
    assert "::error file=pyproject.toml,line=1,title=average at n=5%2C f=1::kappa* >= inf > 2" in output
    written = json.loads((project / ".kappaguard" / "kappaguard.sarif").read_text())
    assert [result["level"] for result in written["runs"][0]["results"]].count("error") >= 1
    # what is typed into the workflow is an argument, never a command
    status, _, complaint = run(project, *shell, PATH=path, KAPPAGUARD_ARGUMENTS="$(touch pwned) ; touch pwned")
    assert status == 2
    assert "kappaguard: " in complaint
    assert not (project / "pwned").exists()


def test_the_action_uploads_witnesses_and_interpolates_nothing_into_scripts():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    upload = next(step for step in steps if step.get("uses", "").startswith("actions/upload-artifact"))
    assert upload["if"] == "failure()"
    assert upload["with"]["path"].endswith("/.kappaguard/witnesses")
    sarif = next(step for step in steps if step.get("uses", "").startswith("github/codeql-action/upload-sarif"))
    assert "inputs.sarif == 'true'" in sarif["if"]
    assert sarif["with"]["sarif_file"].endswith("/.kappaguard/kappaguard.sarif")
    assert all("${{" not in step.get("run", "") for step in steps)
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(action["inputs"])


def test_the_pre_commit_hook_is_valid():
    status, output, complaint = run(
        ROOT, sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"
    )
    assert status == 0, output + complaint
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "kappaguard check"
    assert hook["pass_filenames"] is False
