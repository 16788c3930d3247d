"""The domain of a claim, and what is said of a claim that is written as people write."""

from __future__ import annotations

import pytest

import kappaguard as kg
from kappaguard.cli import main
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.base.expression import evaluate, satisfies
from kappaguard.verify.guard.configuration import from_toml


@pytest.mark.parametrize(
    ("condition", "n", "f", "holds"),
    [
        ("n >= 4*f+3", 11, 2, True),
        ("n >= 4*f+3", 10, 2, False),
        ("2*f < n <= 3*f", 12, 4, True),
        ("2*f < n <= 3*f", 13, 4, False),
        ("f == 1", 5, 1, True),
        ("f != 1", 5, 1, False),
    ],
)
def test_a_condition(condition, n, f, holds):
    assert satisfies(condition, n, f) is holds


@pytest.mark.parametrize("condition", ["n", "n = 3", "n >=", "n >= 4*f; import os", "n >= __import__('os')", "n >> 2"])
def test_what_is_no_condition(condition):
    with pytest.raises(InputError):
        satisfies(condition, 9, 2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2f", "2*f"),
        ("6f/(n-2f)", "6*f/(n-2*f)"),
        ("(n-f)(n+f)", "(n-f)*(n+f)"),
        ("n^2", "n**2"),
        ("4(1+f)", "4*(1+f)"),
    ],
)
def test_a_product_without_a_star_gets_a_hint_that_works(written, meant):
    with pytest.raises(InputError) as caught:
        evaluate(written, 9, 2)
    assert f"did you mean {meant!r}?" in str(caught.value)
    evaluate(meant, 9, 2)


def test_outside_its_domain_nothing_is_claimed(capsys):
    with pytest.raises(InputError, match="the claim is for n >= 4"):
        kg.check("bulyan", 10, 2, 5, requires="n >= 4*f+3", witnesses=None)
    command = ["check", "cwtm", "-n", "10", "-f", "2", "--claim", "1", "--requires", "n > 5*f"]
    assert main(command) == 2
    assert "n > 5*f" in capsys.readouterr().err


def test_the_grid_is_what_the_domain_leaves():
    text = """
        [tool.kappaguard]
        grid = [[17, 4], [10, 2], [7, 1]]
        rules = [{{ rule = "cwtm", claim = "f/(n-2*f)", requires = {requires} }}]
        """
    checks = from_toml(text.format(requires="'n >= 6*f'")).checks
    assert [(each.claim_check.n, each.claim_check.f) for each in checks] == [(7, 1)]
    for wrong in ("'n >= 60*f'", "5", "'n'"):
        with pytest.raises(InputError):
            from_toml(text.format(requires=wrong))
