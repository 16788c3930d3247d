"""Nothing heavy is imported before it is used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"torch", "cvxpy", "sympy", "matplotlib", "pandas"}


def modules_after(code: str) -> set[str]:
    """The top-level modules that a new interpreter has imported after running the code."""
    script = f"{code}\nimport sys\nprint('MODULES', *{{name.partition('.')[0] for name in sys.modules}})"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split()[1:])


def test_the_guard_sees_a_heavy_import():
    assert "sympy" in modules_after("import sympy")


def test_importing_the_package_imports_not_even_numpy():
    loaded = modules_after("import kappaguard")
    assert "kappaguard" in loaded
    assert not loaded & (HEAVY | {"numpy", "scipy", "typer", "rich"})


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["rules"], ["rules", "--json"], ["no-such-command"]])
def test_the_command_line_imports_nothing_heavy(arguments):
    assert not modules_after(f"from kappaguard.cli import main\nmain({arguments!r})") & HEAVY


@pytest.mark.parametrize("arguments", [["--help"], ["rules"]])
def test_the_command_line_needs_less_than_a_second(arguments):
    def seconds() -> float:
        # Processor time and not the clock's: the machine may be busy with other tests.
        before = os.times()
        subprocess.run([sys.executable, "-m", "kappaguard", *arguments], check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    assert min(seconds() for _ in range(3)) < 1.0


def test_rule_is_found_on_first_use():
    import kappaguard as kg
    from kappaguard.rules.names import rule

    assert kg.rule is rule
    assert "rule" in dir(kg)


def test_an_unknown_attribute_is_an_attribute_error():
    import kappaguard as kg

    with pytest.raises(AttributeError, match="no attribute 'rulez'"):
        kg.rulez  # noqa: B018
