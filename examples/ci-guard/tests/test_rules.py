"""The guarantee as a test: kappaguard's pytest plugin collects marked factories."""

from __future__ import annotations

from functools import partial

import pytest
from aggregation import Krum, trimmed_mean


@pytest.mark.kappa(n=10, f=2, claim="f/(n-2*f)")
def trimmed_mean_of_ten():
    """The rule as a user would hold it."""
    return partial(trimmed_mean, f=2)


@pytest.mark.kappa(n=10, f=2, claim="6*(1+f/(n-2*f))")
def test_krum():
    """A test may return the rule as well."""
    return Krum(f=2)
