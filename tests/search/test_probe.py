"""The small adversary of the claims."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kappaguard.rules.names import rule
from kappaguard.search.probe import probe, ratio_score
from kappaguard.verify.theory.worst import kappa_star, settled

pytestmark = pytest.mark.solver


@pytest.mark.parametrize("name", ["cwtm", "cwmed", "meamed"])
def test_it_comes_near_the_worst_case_and_not_above(name):
    n, f = 7, 2
    found = probe(ratio_score(rule(name, f=f), n, f), n, f, rounds=60, seed=0)
    exact = kappa_star(name, n, f)
    judged = settled(name, f, found.rational())
    assert 0.9 * exact.lower <= judged.lower <= exact.upper
    assert float(judged.lower) == pytest.approx(found.value, rel=1e-3)


def test_the_same_seed_gives_the_same_result():
    runs = [probe(ratio_score(rule("cwtm", f=1), 5, 1), 5, 1, rounds=5, seed=7) for _ in range(2)]
    assert runs[0].value == runs[1].value
    assert np.array_equal(runs[0].x, runs[1].x)
    assert runs[0].evaluations == runs[1].evaluations > 0


def test_a_rational_input_is_of_size_one():
    found = probe(ratio_score(rule("cwtm", f=1), 5, 1), 5, 1, rounds=2, seed=0)
    assert max(abs(value) for row in found.rational() for value in row) == Fraction(1)
