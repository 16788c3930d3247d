"""The pytest plugin, in runs of pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.solver, pytest.mark.usefixtures("without_torch")]

pytest_plugins = ["pytester"]

HEAD = """
import numpy as np
import pytest
import kappaguard as kg


class Trimmed:
    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        return np.sort(x, axis=0)[self.f : len(x) - self.f].mean(axis=0)


def average(x):
    return x.mean(axis=0)

"""
SHORT = "--kappa-evaluations=300"


@pytest.fixture
def suite(pytester, monkeypatch):
    """Runs a file of tests in a process of its own, which NumPy asks for; the outer run's options must not leak."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)

    def run(code, *options):
        pytester.makepyfile(HEAD + code)
        return pytester.runpytest_subprocess(
            SHORT, "--strict-markers", "-W", "error", "-p", "no:cacheprovider", *options
        )

    return run


def test_a_rule_that_holds_and_one_that_does_not(suite, pytester):
    result = suite("""
@pytest.mark.kappa(n=7, f=2, claim="f/(n-2*f)")
def test_good():
    return Trimmed(2)


@pytest.mark.kappa(n=7, f=2, claim="f/(n-2*f)")
def factory_of_any_name():
    return average


def helper():
    raise RuntimeError("not a test")
""")
    result.assert_outcomes(passed=1, failed=1)
    (witness,) = (pytester.path / ".kappaguard" / "witnesses").iterdir()
    result.stdout.fnmatch_lines(
        [
            "refuted: kappa* <= f/(n-2[*]f) = 0.666667 for *average at n = 7, f = 2",
            "*honest *2-6 (5 times) *1*",
            "*Byzantine *0-1 (2 times) *0*",
            "*honest mean *1*",
            "*output *0.714286*",
            "*error^2 *0.0816327*",
            "*variance *0*",
            "*ratio *inf*",
            "*claim *f/(n-2[*]f) = 0.666667*",
            f"reproduce: kappaguard replay --run-code .kappaguard/witnesses/{witness.name}",
            "reproduce: rule(numpy.array([[][[]0.0[]], [[]0.0[]], [[]1.0[]]*",
        ]
    )
    # no line of the plugin or of the library in the failure
    assert "plugin.py" not in result.stdout.str()


WRONG = {
    "n=5, f=3, claim='1'": "f < n/2",
    "n=5, f=1, claim='n+'": "not an arithmetic expression",
    "n=5, claim='1'": "missing",
    "n=5, f=1, claim='1', colour=3": "colour",
    "n=5, f=1": "no coefficient is known",
}


def test_fixtures_classes_several_marks_and_wrong_ones(suite):
    wrong = "\n".join(
        f"@pytest.mark.kappa({mark})\ndef test_{place}():\n    return average\n" for place, mark in enumerate(WRONG)
    )
    result = suite(
        """
@pytest.fixture(params=[1, 2])
def rule(request):
    return Trimmed(request.param)


@pytest.fixture
def other():
    return average


@pytest.mark.kappa(n=7, f=1, claim="1")
def test_the_fixture_called_rule(rule):
    pass


@pytest.mark.kappa(n=7, f=1, claim="1", fixture="other")
def test_another(other):
    pass


@pytest.mark.kappa(n=7, f=1, claim="1")
def test_none():
    pass


@pytest.mark.kappa(5, 1, "3")
@pytest.mark.kappa(n=3, f=1, claim="1/2")
def test_both():
    return "cwtm"


@pytest.mark.kappa(n=5, f=1)
class TestClass:
    def test_cwtm(self):
        return "cwtm"


"""
        + wrong
    )
    result.assert_outcomes(passed=3, failed=3 + len(WRONG))
    result.stdout.fnmatch_lines(
        [
            "kappaguard: test_none returns no rule and takes no fixture 'rule'",
            "refuted: kappa* <= 1/2 = 0.5 for cwtm at n = 3, f = 1",
            # what held is told beside what did not
            "proved: kappa* <= 3 for cwtm at n = 5, f = 1",
        ]
    )
    lines = [line for line in result.stdout.lines if line.startswith("kappaguard: ")][1:]
    assert len(lines) == len(WRONG)
    for line, said in zip(lines, WRONG.values(), strict=True):
        assert said in line


def test_marked_classes(suite):
    result = suite("""
@pytest.mark.kappa(n=7, f=2, claim="f/(n-2*f)")
class WithF(Trimmed):
    pass


@pytest.mark.kappa(n=7, f=2, claim="100")
class Average:
    def __call__(self, x):
        return x.mean(axis=0)


@pytest.mark.kappa(n=7, f=2, claim="100")
class TestedAverage(Average):
    pass
""")
    result.assert_outcomes(passed=1, failed=2)
    # a class inherits the marks of its base
    assert result.stdout.str().count("refuted: kappa* <= 100 for") == 3
    result.stdout.fnmatch_lines(["*refuted: kappa[*] <= 100 for *:Average at n = 7, f = 2"])


def test_a_marked_class_that_is_no_rule_is_an_error(suite):
    result = suite("""
@pytest.mark.kappa(n=7, f=2, claim="1")
class Nothing:
    pass
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the class Nothing has the mark kappa, and is no class of tests and no rule*"])


def test_plain_tests_and_options(suite, pytester):
    result = suite(
        """
from fractions import Fraction

from kappaguard.verify.guard.check import Defaults, defaults


def test_good():
    kg.assert_robust("cwtm", n=5, f=1)


def test_bad():
    kg.assert_robust(average, n=5, f=1, kappa=2)


def test_options():
    assert defaults() == Defaults(300, 41, Fraction(1e-9))


@pytest.mark.parametrize("k", [1, 2])
def test_without_a_mark(k):
    pass


def test_asserts():
    assert 1 == 2
""",
        "--kappa-seed=41",
        "--kappa-tolerance=1e-9",
    )
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["*kg.assert_robust(average, n=5, f=1, kappa=2)*", "*refuted: kappa[*] <= 2 for *"])
    assert "guard.py" not in result.stdout.str()
    assert len(list((pytester.path / ".kappaguard" / "witnesses").iterdir())) == 1
    assert "KAPPAGUARD_SEED" not in os.environ
    assert "KAPPAGUARD_BUDGET" not in os.environ


def test_it_is_safe_under_xdist(suite, pytester):
    code = "\n".join(
        f"""
@pytest.mark.kappa(n={n}, f=1, claim="2")
def test_bad_{n}_{copy}():
    return average
"""
        for n in (5, 6)
        for copy in range(2)
    )
    result = suite(code, "-n", "2", "--kappa-seed=7")
    result.assert_outcomes(failed=4)
    # the same violation found by two workers is one file
    assert len(list((pytester.path / ".kappaguard" / "witnesses").iterdir())) == 2
    assert result.stdout.str().count("refuted: kappa* <= 2") == 4


def test_the_options_and_the_marker_are_documented(pytester):
    assert "--kappa-evaluations" in pytester.runpytest("--help").stdout.str()
    assert "@pytest.mark.kappa(n, f, claim" in pytester.runpytest("--markers").stdout.str()


def test_loading_the_plugin_imports_neither_numpy_nor_a_room():
    # but for the empty package that answers to kg.search
    code = (
        "import sys, kappaguard.plugin\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('numpy', 'torch', 'scipy', 'rich', 'typer')"
        " or name.startswith('kappaguard.') and name not in ('kappaguard.plugin', 'kappaguard.search')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
