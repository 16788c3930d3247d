"""Chains: what they are, and that they find more than was known of nearest neighbour mixing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.search.adversaries.chains import Chains, chain
from kappaguard.verify.judge.replay import replay


def test_a_chain():
    x = chain(11, 4, 1, 0.25, 2.75)[:, 0]
    np.testing.assert_allclose(x, [0, 0, 0, 1, 1, 1, 0.75, -1, -1, -1, -2.75], atol=1e-6)
    assert np.all(x[7:] > [-1, -1, -1, -2.75])


@pytest.mark.parametrize(
    ("rule", "n", "f", "more"),
    [
        # 4f/(n-2f) = 4, which nnm in front of any rule has at the least
        ("nnm+krum", 9, 3, 7.2),
        ("nnm+mda", 9, 3, 4.249),
        ("nnm+cwtm", 9, 3, 3.999),
    ],
)
def test_what_they_find(rule, n, f, more):
    result = kg.search(rule, n=n, f=f, evaluations=1500, adversaries=((Chains(), 1.0),))
    assert result.lower >= more
    assert replay(result.witness).reproduces
    assert result.witness.found_by == "chains"


def test_they_never_exceed_what_is_proved():
    result = kg.search("nnm+cwtm", n=9, f=3, evaluations=1500, adversaries=((Chains(), 1.0),))
    assert result.lower <= Fraction(4)
