"""The enclosure of the geometric median and what it computes with, by high-precision arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.witness import fractions
from kappaguard.verify.judge.exact_numbers import is_semidefinite, root_above, root_below, round_down
from kappaguard.verify.judge.median import geometric_median

from ...rules import naive


def precise_median(points, digits=60):
    """The geometric median by Weiszfeld's iteration and Newton's method, in mpmath."""
    from mpmath import matrix, mp, mpf

    with mp.workdps(digits):
        rows = [matrix([mpf(v.numerator) / v.denominator for v in row]) for row in points]
        d = len(rows[0])
        y = matrix([sum(row[k] for row in rows) / len(rows) for k in range(d)])
        for step in range(400):
            lengths = [mp.norm(row - y) for row in rows]
            if step < 60:
                total = sum(1 / r for r in lengths)
                y = matrix([sum(row[k] / r for row, r in zip(rows, lengths, strict=True)) / total for k in range(d)])
                continue
            gradient, hessian = matrix(d, 1), matrix(d, d)
            for row, r in zip(rows, lengths, strict=True):
                u = (row - y) / r
                gradient -= u
                hessian += (mp.eye(d) - u * u.T) / r
            move = mp.lu_solve(hessian, gradient)
            y -= move
            if mp.norm(move) < mpf(10) ** (-digits + 8):
                break
        return [_fraction(v) for v in y]


def _fraction(value):
    sign, mantissa, exponent, _ = value._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


@pytest.mark.parametrize(("n", "d", "seed"), [(6, 2, 1), (7, 3, 1), (9, 2, 2), (5, 8, 3), (12, 5, 4)])
def test_the_ball_contains_the_median(n, d, seed):
    generator = np.random.default_rng(seed)
    x = generator.integers(-50, 51, (n, d))
    while naive.gm(x.tolist(), 0) in x.tolist():
        x = generator.integers(-50, 51, (n, d))
    points = [[Fraction(int(v)) for v in row] for row in x]
    truth = precise_median(points)
    for guess in (naive.gm(x.tolist(), 0), (np.array(naive.gm(x.tolist(), 0)) + 1e-3).tolist()):
        ball = geometric_median(points, [Fraction(v) for v in guess])
        away = naive.square_distance(ball.centre, truth)
        assert away <= (ball.radius + Fraction(1, 10**40)) ** 2
        assert 0 < ball.radius < Fraction(1, 10)
        # not merely large: within a small factor of the true distance
        assert ball.radius <= 100 * root_above(away) + Fraction(1, 10**12)


def test_a_median_at_a_vector_is_exact():
    points = fractions([[0, 0], [5, 1], [-4, 1], [0, -7], [0, 6], [0, 0]])
    ball = geometric_median(points, [Fraction(1, 10**8), Fraction(0)])
    assert ball.radius == 0
    assert ball.centre == (0, 0)


def test_a_median_at_the_border_of_a_vector_is_enclosed_tightly():
    # directions of length exactly one add up at the origin: neither strictly inside nor outside
    points = fractions([[0, 0], [3, 4], [-3, 4], [0, -5]])
    ball = geometric_median(points, [Fraction(0), Fraction(0)])
    assert ball.radius < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("rows", "middle"),
    [
        ([[0], [1], [10]], [1]),
        ([[0], [1], [10], [2]], [Fraction(3, 2)]),
        ([[0, 0], [1, 2], [3, 6], [2, 4]], [Fraction(3, 2), 3]),
        ([[4, 4]] * 3, [4, 4]),
    ],
)
def test_on_a_line_the_median_is_exact(rows, middle):
    ball = geometric_median(fractions(rows), fractions([[9] * len(rows[0])])[0])
    assert (list(ball.centre), ball.radius) == (middle, 0)


def test_a_far_guess_is_no_false_proof():
    points = fractions([[0, 0], [4, 0], [0, 4], [5, 5]])
    truth = precise_median(points)
    for away in (Fraction(1), Fraction(100), Fraction(10**9)):
        try:
            ball = geometric_median(points, [away, -away])
        except InputError:
            continue
        assert naive.square_distance(ball.centre, truth) <= (ball.radius + Fraction(1, 10**40)) ** 2


@given(st.fractions(min_value=0, max_denominator=10**20))
def test_roots_enclose(value):
    low, high = root_below(value), root_above(value)
    assert low * low <= value <= high * high
    assert high - low <= Fraction(1, 10**40) * (low + high)
    if value:
        assert 0 < round_down(value) <= value <= round_down(value) * (1 + Fraction(1, 2**60))
    square = value * value
    assert root_below(square, 400) <= value <= root_above(square, 400)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(0, 4))
@settings(deadline=None)
def test_semidefinite(seed, size, rank):
    factor = np.random.default_rng(seed).integers(-3, 4, (size, rank))
    matrix = [[Fraction(int(v)) for v in row] for row in factor @ factor.T]
    assert is_semidefinite(matrix)
    least = np.linalg.eigvalsh((factor @ factor.T).astype(float))[0]
    shift = Fraction(least) + Fraction(1, 1000)
    assert not is_semidefinite([[v - shift * (i == j) for j, v in enumerate(row)] for i, row in enumerate(matrix)])
