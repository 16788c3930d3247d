"""kappa* of MultiKrum: certificate and witness meet, and a literal enumeration of all patterns agrees."""

from __future__ import annotations

import itertools
import json
import math

import clarabel
import numpy as np
import pytest
from scipy.sparse import csc_matrix

import kappaguard as kg
from kappaguard.search.result import Status
from kappaguard.verify.certified.rejected import Rejected
from kappaguard.verify.checker import check
from kappaguard.verify.coefficients import MULTIKRUM_NARROW
from kappaguard.verify.replay import replay

pytestmark = pytest.mark.solver

SMALL = [(n, f) for n in range(3, 10) for f in range(1, (n - 1) // 2 + 1)]
NARROW = [(7, 3), (9, 4), (17, 8)]
LARGE = [(10, 4), (13, 5), (16, 1), (16, 7), (17, 4), (17, 8)]


@pytest.mark.parametrize(("n", "f"), SMALL + LARGE)
def test_both_sides(n, f):
    result = kg.exact("multikrum", n=n, f=f)
    assert check(result.certificate).upper == result.upper
    assert replay(result.witness).reproduces
    assert result.lower <= result.upper <= 4 * f / (n - 2 * f) * (1 + 1e-8)
    below = 4 * f / (n - 2 * f) if n >= 3 * f else (1 + math.sqrt(f / (n - 2 * f))) ** 2
    assert float(result.lower) >= below * (1 - 1e-6)
    if n <= 9 or n >= 3 * f or n == 2 * f + 1:
        assert result.status is Status.EXACT
        assert 0 <= result.gap <= 1e-6


@pytest.mark.parametrize(("n", "f"), NARROW)
def test_the_closed_form_for_one_honest_vector_more(n, f):
    assert float(kg.exact("multikrum", n=n, f=f).upper) == pytest.approx(float(MULTIKRUM_NARROW(n, f)), rel=1e-8)


def test_every_pattern_of_five_vectors():
    """All choices of the selected vectors and of their neighbours at n = 5, f = 2, worker by worker.

    For the selected set W and neighbours N_i of its members, the inputs with sum over N_i of ||x_i - x_k||^2 at most
    sum over N of ||x_j - x_k||^2 for all i in W, j not in W and all N of n - f vectors with j are those where W may be
    selected; error, variance and distances are linear in the Gram matrix.
    """
    n, f = 5, 2
    largest = max(
        _largest_ratio(n, f, selected, dict(zip(selected, neighbours, strict=True)))
        for selected in ((0, 3, 4), (0, 1, 3))
        for neighbours in itertools.product(*(_neighbourhoods(n, f, i) for i in selected))
        if not (selected == (0, 3, 4) and neighbours[1] > neighbours[2])
    )
    assert largest == pytest.approx(float(kg.exact("multikrum", n=n, f=f).upper), rel=1e-6)


def _neighbourhoods(n: int, f: int, j: int) -> list[tuple[int, ...]]:
    others = [k for k in range(n) if k != j]
    return [(j, *chosen) for chosen in itertools.combinations(others, n - f - 1)]


def _largest_ratio(n, f, selected, neighbours):
    unit, m = np.eye(n), n - f

    def score(j, near):
        return sum(np.outer(unit[j] - unit[k], unit[j] - unit[k]) for k in near)

    mean = unit[:m].mean(axis=0)
    error = unit[list(selected)].mean(axis=0) - mean
    variance = sum(np.outer(unit[i] - mean, unit[i] - mean) for i in range(m)) / m
    comparisons = [
        score(j, near) - score(i, neighbours[i])
        for i in selected
        for j in range(n)
        if j not in selected
        for near in _neighbourhoods(n, f, j)
    ]
    # vector n - 1 at the origin; the upper triangle by columns, off the diagonal times the root of two
    columns, rows = np.tril_indices(n - 1)
    weight = np.where(rows == columns, 1.0, math.sqrt(2))
    lines = np.array([form[rows, columns] * weight for form in [variance, *[-each for each in comparisons]]])
    goal = -np.outer(error, error)[rows, columns] * weight
    size = len(goal)
    matrix = csc_matrix(np.vstack([lines, -np.eye(size)]))
    right = np.concatenate([[1.0], np.zeros(len(comparisons) + size)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(lines)), clarabel.PSDTriangleConeT(n - 1)]
    return -clarabel.DefaultSolver(csc_matrix((size, size)), goal, matrix, right, cones, settings).solve().obj_val


@pytest.mark.parametrize("kind", ["one", "all", "together", "stray"])
def test_no_kind_of_cell_may_be_missing_or_proved_by_nothing(kind):
    data = json.loads(kg.exact("multikrum", n=8, f=3).certificate)
    check(json.dumps(data))
    index = next(index for index, cell in enumerate(data["cells"]) if cell["cell"][0] == kind)
    with pytest.raises(Rejected):
        check(json.dumps({**data, "cells": data["cells"][:index] + data["cells"][index + 1 :]}))
    data["cells"][index]["multipliers"] = {}
    with pytest.raises(Rejected):
        check(json.dumps(data))


@pytest.mark.parametrize("name", ["out>out", "whole>out", "out>nobody", "out>stray"])
def test_a_comparison_that_does_not_hold_is_rejected(name):
    data = json.loads(kg.exact("multikrum", n=8, f=3).certificate)
    cell = next(cell for cell in data["cells"] if cell["cell"] == ["together", 1])
    cell["multipliers"][name] = "1"
    with pytest.raises(Rejected):
        check(json.dumps(data))
