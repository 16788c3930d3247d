"""The checks of algebra reject what is wrong."""

from __future__ import annotations

import pytest
import sympy

from kappaguard.verify.theory.algebra import (
    StepFails,
    require_at_most,
    require_equal,
    require_nonnegative_coefficients,
)

H = sympy.Symbol("h", nonnegative=True)


def test_equal():
    require_equal("square", (1 + H) ** 2, 1 + 2 * H + H**2)
    with pytest.raises(StepFails, match=r"label: the sides differ by"):
        require_equal("label", (1 + H) ** 2, 1 + H + H**2)


@pytest.mark.parametrize(
    ("left", "right", "low", "high"),
    [
        (0, (H - 1) ** 2, 0, 2),
        (0, (H - sympy.Rational(1, 3)) ** 2 * H, 0, 1),
        (0, H**2 - 2, 2, 3),
        (H / (1 + H), 1, 0, 100),
        (1, 1, 0, 1),
        (H, H**2, 1, 2),
    ],
)
def test_at_most(left, right, low, high):
    require_at_most("holds", left, right, H, low, high)


@pytest.mark.parametrize(
    ("left", "right", "low", "high"),
    [
        (0, (H - 1) * (H - sympy.Rational(11, 10)), 0, 2),
        (0, H**2 - 2, 0, 3),
        (0, 2 - H**2, 0, 3),
        (1, H / (1 + H), 0, 1),
        (1, 0, 0, 1),
        (0, 1 / (H - 1), 0, 2),
        (0, -(H**2), 0, 1),
    ],
)
def test_not_at_most(left, right, low, high):
    with pytest.raises(StepFails, match="fails at h"):
        require_at_most("fails", left, right, H, low, high)


def test_coefficients():
    require_nonnegative_coefficients("square", (1 + H) ** 2, H)
    with pytest.raises(StepFails, match="negative coefficient"):
        require_nonnegative_coefficients("square", (1 - H) ** 2, H)
