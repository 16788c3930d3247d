"""Shrinking keeps what it promises, as the judge of witnesses sees it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.rules.subsets import worst_subset
from kappaguard.search.shrink import ShrinkTask, off_ties, shrink
from kappaguard.verify.judge.replay import replay, settle

RULES = ["krum", "cwmed", "cwtm", "gm", "multikrum", "meamed", "mda", "nnm+krum", "nnm+gm", "smea", "nnm+cwtm"]
N, F = 8, 2


def bad_input(name, d=4, tries=40):
    """The worst of a number of random inputs, with its S."""
    generator = np.random.default_rng(7)
    best = (0.0, None, None)
    for _ in range(tries):
        x = 1e3 + 7 * generator.standard_normal((N, d))
        x[:F] += 10 * generator.standard_normal(d)
        found = worst_subset(rule(name, f=F)(x), x, F)
        if found.ratio > best[0]:
            best = (float(found.ratio), x, found.subset)
    return best


@pytest.mark.parametrize("name", RULES)
def test_a_witness_is_small_keeps_its_ratio_and_is_reproduced(name):
    before, x, subset = bad_input(name)
    witness = settle(shrink(name, x, subset, F, keep=Fraction(9, 10), found_by="random"))
    assert witness.lower >= before * 0.9 * (1 - 1e-9)
    assert replay(witness).reproduces
    values = {value for row in witness.x for value in row}
    assert witness.d <= 4
    assert len(values) < N * 4 / 2
    assert all(value.denominator == 1 and abs(value) <= 2000 for value in values)
    assert witness.subset == tuple(subset.tolist())
    assert witness.found_by == "random"


def test_coordinate_wise_rules_need_one_coordinate():
    """The paper's coordinate-wise lemma: some coordinate has at least the ratio of all."""
    for name in ("cwmed", "cwtm", "meamed"):
        _, x, subset = bad_input(name)
        assert shrink(name, x, subset, F, keep=1).d == 1


def test_the_same_seed_gives_the_same_witness():
    _, x, subset = bad_input("krum")
    assert shrink("krum", x, subset, F, seed=3) == shrink("krum", x, subset, F, seed=3)


def test_ties_are_seen_and_left():
    # all four Krum scores are equal; the lower index decides, any perturbation may decide otherwise
    tie = np.array([[0.0], [0.0], [1.0], [1.0]])
    problem = ShrinkTask(rule("krum", f=1), (1, 2, 3), "trace")
    assert problem.ratios(tie[None])[0] == pytest.approx(2.0)
    assert not off_ties(problem, tie, thorough=True)
    witness = shrink("krum", tie, (1, 2, 3), 1, keep=Fraction(9, 10))
    assert "tie" not in witness.note
    assert settle(witness).lower >= Fraction(18, 10)
    # an independent judge of "off ties": the choice survives every single small change, in exact arithmetic
    array = witness.array()
    size = max(abs(value) for value in array.ravel())
    for index in np.ndindex(array.shape):
        for sign in (-1, 1):
            moved = array.copy()
            moved[index] += sign * size / Fraction(10**7)
            assert abs(ShrinkTask(rule("krum", f=1), (1, 2, 3), "trace").exact(moved) - witness.lower) < Fraction(1, 10)


def test_a_tie_that_cannot_be_left_is_noted(tmp_path):
    # wrong only where two vectors are equal: every perturbation makes it right
    path = tmp_path / "own.py"
    path.write_text("def touchy(x):\n    return x[0] + 5 if (x[0] == x[1]).all() else x[2:].mean(axis=0)\n")
    witness = shrink(f"{path}:touchy", np.array([[1.0], [1.0], [2.0], [4.0]]), (1, 2, 3), 1)
    assert "sits on a tie" in witness.note
    assert replay(settle(witness)).verdict == "float"


def test_an_input_off_ties_is_not_called_tied():
    x = np.array([[0.0, 0.1], [1.0, 0.3], [2.2, -1.0], [5.0, 0.0], [3.3, 0.7]])
    for name in ("krum", "cwmed", "gm", "mda"):
        assert off_ties(ShrinkTask(rule(name, f=1), (1, 2, 3, 4), "trace"), x, thorough=True)


def test_an_infinite_ratio_stays_infinite():
    x = np.array([[9.0, 1.0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    witness = shrink("average", x, (1, 2, 3), 1)
    assert witness.lower == math.inf
    assert replay(witness).verdict == "exact"


def test_rules_that_neither_translate_nor_scale_are_left_where_they_are():
    x = np.array([[3.0, 0.0], [2.5, 0.1], [2.4, 0.0], [2.6, -0.1]])
    witness = shrink("clipping+average", x, (1, 2, 3), 1, keep=Fraction(9, 10))
    assert replay(settle(witness)).verdict == "float"


@pytest.mark.parametrize(
    ("x", "keep", "said"),
    [
        (np.zeros((4, 1)), 0.9, "nothing to keep"),
        (np.full((4, 1), np.inf), 0.9, "finite matrix"),
        (np.arange(4.0), 0.9, "finite matrix"),
        (np.array([[0.0], [0.0], [1.0], [1.0]]), 1.5, "in \\(0, 1\\]"),
    ],
)
def test_refusals(x, keep, said):
    with pytest.raises(InputError, match=said):
        shrink("krum", x, (1, 2, 3), 1, keep=keep)


def test_a_wide_input_is_shrunk_within_its_patience():
    """One coordinate in thousands carries the ratio; then none may be tried any more."""
    generator = np.random.default_rng(0)
    x = 1e-3 * generator.normal(size=(7, 3000))
    x[:, 1717] = [4, 4, -3, -3, -3, 4, 4]
    asked = []

    def patient(used):
        asked.append(used)
        return used <= 3000

    small = shrink("cwmed", x, range(5), 2, keep=0.9, patience=patient)
    assert len(small.x[0]) == 1
    assert max(asked) < 4000
    large = shrink("cwmed", x, range(5), 2, keep=0.9, patience=lambda used: False)
    assert len(large.x[0]) == 3000
    assert large.lower >= Fraction(9, 10) * small.lower
