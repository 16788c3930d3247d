"""Exact multipliers against linear algebra in fractions on problems whose answer is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kappaguard.search.exact.kernel import _kernel, _solve, kernel_multipliers

SMALL = st.integers(-6, 6)


@given(
    st.lists(st.lists(SMALL, min_size=3, max_size=3), min_size=1, max_size=3), st.lists(SMALL, min_size=3, max_size=3)
)
def test_a_solution_solves_the_equations(rows, point):
    """Right sides from a known point, so that there is a solution."""
    equations = [[*map(Fraction, row), Fraction(sum(a * b for a, b in zip(row, point, strict=True)))] for row in rows]
    found = _solve(equations, [float(each) for each in point])
    assert found is not None
    for *row, right in equations:
        assert sum(a * b for a, b in zip(row, found, strict=True)) == right


def test_equations_without_a_solution_have_none():
    one = Fraction(1)
    assert _solve([[one, one, one], [one, one, 2 * one]], [0.5, 0.5]) is None


@given(st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_the_kernel_of_a_form_of_rank_two(first, second):
    """Every vector of the basis is annihilated exactly, and there are as many as dimensions are left."""
    form = np.outer(first, first) + np.outer(second, second)
    rank = int(np.linalg.matrix_rank(form))
    if rank == 0:
        return
    basis = _kernel(form.astype(float))
    assert len(basis) == 4 - rank
    for vector in basis:
        assert vector is not None
        for row in form.tolist():
            assert sum(a * b for a, b in zip(row, vector, strict=True)) == 0


def test_multipliers_of_a_bound_that_is_attained():
    """kappa V - E - lambda Q with V = I, E = diag(3, 0), Q = diag(-2, 1): at kappa = 1 the multiplier is 1, exactly."""
    block = np.array([np.diag([1.0 - 3.0, 1.0]), np.diag([-2.0, 1.0])])
    scalars = np.zeros((2, 0))
    assert kernel_multipliers([block], scalars, np.array([1.0 + 1e-9])) == [Fraction(1)]


def test_without_a_kernel_there_is_nothing_to_solve():
    block = np.array([np.diag([2.0, 1.0]), np.diag([-2.0, -1.0])])
    assert kernel_multipliers([block], np.zeros((2, 0)), np.array([1e-12])) == [Fraction(0)]
