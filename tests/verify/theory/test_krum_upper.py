"""The multipliers for Krum: the form by its definition, and bounds beside certificates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.verify.theory.krum_upper import Shares, bounded, byzantine_shares, matrix, proves


def squares(x, y):
    return ((x - y) ** 2).sum()


@pytest.mark.parametrize("honest", [False, True])
def test_the_form_is_what_its_docstring_says(honest):
    """kappa V - error - rho (average bound - score), vector by vector, with the Byzantine ones where they help most."""
    random = np.random.default_rng(4)
    m, q, kappa, shares = 9, 3, 2.5, Shares(0.2, 0.9, 0.4)
    count = q if honest else q + 1
    k = m - count - int(honest)
    near, far = random.standard_normal((k, 2)), random.standard_normal((count, 2))
    near -= near.mean(axis=0)
    s = random.standard_normal(2)
    byzantine = np.repeat(s[None] / (1 - shares.byzantine), q, axis=0)
    third = (q + 1 - shares.selected - q * shares.byzantine) / count
    score = sum(squares(s, x) for x in (*near, *byzantine))
    others = np.mean(
        [
            sum(squares(x, each) for each in near)
            + shares.selected * squares(x, s)
            + shares.byzantine * sum(squares(x, each) for each in byzantine)
            + third * sum(squares(x, each) for each in far)
            for x in near
        ]
    )
    group = np.array([*near, *far, s]) if honest else np.array([*near, *far])
    centre = group.mean(axis=0)
    spread = ((group - centre) ** 2).sum() / m
    by_definition = kappa * spread - squares(s, centre) - shares.rho * (others - score)
    first, mixed, second = matrix(float(m), q, kappa, shares, honest)
    middle = far.mean(axis=0)
    inside = (near**2).sum() * (kappa / m - shares.rho * m / k)
    outside = ((far - middle) ** 2).sum() * (kappa / m - shares.rho * third)
    form = first * s @ s + 2 * mixed * s @ middle + second * middle @ middle
    assert by_definition == pytest.approx(form + inside + outside, rel=1e-12)


@pytest.mark.solver
@pytest.mark.parametrize(
    ("n", "f"), [(4, 1), (5, 2), (6, 2), (7, 3), (8, 3), (7, 2), (11, 5), (10, 3), (13, 5), (16, 5)]
)
def test_certificates_and_multipliers_agree(n, f):
    upper = kg.exact("krum", n, f).upper
    assert bounded(n, f, upper)
    assert not bounded(n, f, upper * (1 - Fraction(3, 10**6)))


def test_fewer_byzantine_neighbours_are_proved_by_the_same_multipliers():
    for m, f, kappa in [(13, 4, Fraction(388, 105)), (11, 5, Fraction(7_279_424, 10**6)), (8, 2, Fraction(92, 33))]:
        shares = byzantine_shares(m, f, kappa)
        assert all(proves(m, q, kappa, shares, honest=False) for q in range(f))
