"""Printed bounds are bounds."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from kappaguard.reports.bounds import lower_shown, upper_shown


@pytest.mark.parametrize("digits", [4, 5])
def test_lower_bounds_go_down_and_upper_bounds_up(digits: int) -> None:
    for value in np.exp(np.random.default_rng(0).uniform(-20, 20, 300)).tolist():
        low, high = Decimal(lower_shown(value, digits)), Decimal(upper_shown(value, digits))
        assert low <= Decimal(repr(value)) <= high
        assert high - low <= Decimal(10) ** (1 - digits) * high


def test_what_needs_no_rounding_is_left_alone() -> None:
    assert lower_shown(1.6) == upper_shown(1.6) == "1.6"
    assert lower_shown(3) == upper_shown(3) == "3"
    assert (lower_shown(1.599999999), upper_shown(16 / 9)) == ("1.5999", "1.7778")
    assert (lower_shown(None), upper_shown("inf")) == ("", "infinite")
