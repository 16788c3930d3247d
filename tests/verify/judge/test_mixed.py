"""How far rows of nnm go in given directions: against inputs, and what the checker takes and refuses."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.recipe import OrderStatistics, Recipe
from kappaguard.rules.recipe.weights import median
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.coordinates import check_cells
from kappaguard.verify.judge.exact import exact
from kappaguard.verify.judge.inequalities import Proof
from kappaguard.verify.judge.mixed import factor_behind_nnm
from kappaguard.verify.judge.rejected import Rejected
from kappaguard.verify.judge.replay import replay
from kappaguard.verify.judge.result import Status
from kappaguard.verify.judge.situation import Situation
from kappaguard.verify.theory.packs.fixing_by_mixing.nnm_directions import mixed, share
from kappaguard.verify.theory.packs.fixing_by_mixing.nnm_median_line import worst_line


def whole_numbers(generator: random.Random, n: int, d: int, width: int = 3) -> list[list[Fraction]]:
    return [[Fraction(generator.randint(-width, width)) for _ in range(d)] for _ in range(n)]


def square(values) -> Fraction:
    return sum((value * value for value in values), Fraction(0))


@pytest.mark.parametrize(("n", "f"), [(4, 1), (5, 2), (7, 2), (7, 3)])
def test_any_m_rows_go_no_farther(n, f):
    """ "directed" at true states, for every M of m workers, honest or not, and every part K of it."""
    generator, m = random.Random(n), n - f
    for _ in range(12):
        x = whole_numbers(generator, n, 2)
        y = mixed(x, f)
        for chosen in combinations(range(n), m):
            mean = [sum(x[i][c] for i in chosen) / m for c in range(2)]
            pairs = sum(square(a - b for a, b in zip(x[i], x[j], strict=True)) for i, j in combinations(chosen, 2))
            for size in range(1, m + 1):
                part = generator.sample(chosen, size)
                middle = [sum(y[i][c] for i in part) / size for c in range(2)]
                bias = square(a - b for a, b in zip(middle, mean, strict=True))
                apart = sum(square(a - b for a, b in zip(y[i], middle, strict=True)) for i in part)
                left = m**3 * ((2 * f + size) * size * bias + 2 * (f + size) * apart)
                assert left <= 4 * f * (f + size) * (2 * f + size) * pairs


@pytest.mark.parametrize(("n", "f"), [(5, 1), (5, 2), (8, 2), (9, 4)])
def test_directions_are_bounded_and_the_bound_is_approached(n, f):
    generator = random.Random(f)
    for _ in range(60):
        x, p = whole_numbers(generator, n, 2), whole_numbers(generator, n - f, 2)
        assert share(x, p, f) <= 4
    k = n // 2 + 1 - f
    upwards = [[Fraction(int(f <= i < f + k))] for i in range(n - f)]
    assert 4 * (1 - 1e-6) < share(worst_line(n, f), upwards, f) <= 4


def test_what_lists_prove():
    n, f, k = 17, 4, 5
    m = n - f
    equal_weights = [(k, Fraction(m, k) - 1), (m - k, Fraction(-1))]
    assert factor_behind_nnm(n, f, [equal_weights]) == Fraction(4 * f * (f + k), k * m)
    # among n - 2f or more workers the sharp lemma is no worse
    assert factor_behind_nnm(n, f, [[(m, Fraction(0))]]) == Fraction(4 * f, m)
    signed = [(k, Fraction(m, k) - 1 + Fraction(2)), (m - 2 * k, Fraction(-1)), (k, Fraction(-3))]
    low = Fraction(-2, m)
    high = Fraction(1, k) + Fraction(2, m)
    size = f * (k * high**2 + k * low**2) + (k * high) ** 2 + (k * low) ** 2
    assert factor_behind_nnm(n, f, [signed]) == Fraction(4 * f, m) * min(size, m * k * (high**2 + low**2))


@pytest.mark.parametrize(("n", "f"), [(3, 1), (6, 1), (6, 2), (7, 2), (7, 3), (8, 3), (17, 4), (60, 20)])
def test_the_median_behind_nnm(n, f):
    k = n // 2 + 1 - f
    result = kg.exact("nnm+cwmed", n=n, f=f)
    assert result.status is Status.EXACT
    assert result.upper == Fraction(4 * f * (f + k), k * (n - f))
    assert check(result.certificate).upper == result.upper
    assert replay(result.witness).reproduces


@pytest.mark.parametrize("rule", ["nnm+cwmed", "nnm+cwtm", "nnm+phocas", "nnm+winsorised"])
def test_no_input_of_whole_numbers_is_above(rule):
    generator = random.Random(7)
    for n, f in [(4, 1), (5, 1), (5, 2), (6, 2)]:
        result = kg.exact(rule, n=n, f=f, brief=True)
        upper = check(result.certificate).upper
        built = parse(rule, f=f)
        for _ in range(40):
            x = np.array(whole_numbers(generator, n, 2), dtype=object)
            centre = sum(x[: n - f]) / (n - f)
            spread = ((x[: n - f] - centre) ** 2).sum() / (n - f)
            assert ((built(x) - centre) ** 2).sum() <= upper * spread


def test_other_mixing_is_refused():
    """The lists prove nothing behind two layers, or behind means of another number of vectors."""
    certificate = kg.exact("nnm+cwmed", n=7, f=2)
    cells = json.loads(certificate.certificate)["nodes"]
    choice = OrderStatistics(median(7))
    assert check_cells(Recipe(7, choice, (5,)), 2, Fraction(16, 5), cells)
    for mixing in [(4,), (6,), (5, 5)]:
        with pytest.raises(Rejected):
            check_cells(Recipe(7, choice, mixing), 2, Fraction(16, 5), cells)
    with pytest.raises(Rejected):
        check_cells(Recipe(7, choice, (5,)), 2, Fraction(16, 5) - Fraction(1, 10**9), cells)


def test_directed_rows_are_of_the_set():
    recipe = parse("nnm+krum", f=2).recipe(7)
    proof = Proof(Situation(recipe, 2, frozenset({("pick", 0, frozenset({0}))})), Fraction(5))
    everyone = frozenset(range(5))
    proof.subtract(("directed", 0, frozenset({0, 1}), everyone), Fraction(1))
    for some, members in [(frozenset({5}), everyone), (frozenset(), everyone), (frozenset({0}), frozenset(range(4)))]:
        with pytest.raises(Rejected):
            proof.subtract(("directed", 0, some, members), Fraction(1))
    with pytest.raises(Rejected):
        proof.subtract(("directed", 0, frozenset({0}), everyone), Fraction(-1))
    with pytest.raises(Rejected):
        proof.subtract(("directed", 1, frozenset({0}), everyone), Fraction(1))


@pytest.mark.solver
def test_directed_rows_prove_more_and_their_multipliers_matter():
    """nnm+mda at (7, 2): below 4f/(n-f) (kappa + 1), and not without the new inequality."""
    result = exact("nnm+mda", 7, 2, brief=True)
    lemma = Fraction(8, 5) * (kg.exact("mda", n=7, f=2).upper + 1)
    assert result.upper < lemma
    data = json.loads(result.certificate)
    used = [item for node in data["nodes"] for item in node.get("multipliers", []) if item[0][0] == "directed"]
    assert used
    for item in used:
        item[1] = str(Fraction(item[1]) * 2)
    with pytest.raises(Rejected):
        check(json.dumps(data))
