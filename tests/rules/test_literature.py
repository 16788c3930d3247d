"""Conventions of the rules of the literature, and what is said of them in their docstrings."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.verify.judge.result import Status

from .inputs import exactly


def test_medoid_does_not_square_the_distances():
    """Sums of distances 111, 109, 108, 109, 297: the third; by squares the fourth would win."""
    x = np.array([[0.0], [1.0], [2.0], [3.0], [50.0]])
    assert parse("medoid")(x) == [2.0]
    squares = ((x - x.T) ** 2).sum(axis=1)
    assert int(np.argmin(squares)) == 3


def test_medoid_takes_the_lower_of_two_middle_vectors_wherever_the_origin_is():
    x = np.array([[3.0], [0.1], [0.7], [9.0]])
    assert parse("medoid")(x) == [3.0]
    assert parse("medoid")(x[::-1]) == [0.7]
    assert parse("medoid")(x[::-1] + 1e6) == [0.7 + 1e6]


@pytest.mark.parametrize("n", [5, 6])
def test_aksel_averages_the_nearer_half(n):
    x = exactly(np.random.default_rng(n).integers(-3, 4, (n, 2)).astype(float))
    rule = parse("aksel")
    assert rule.recipe(n).choice.count == 3
    assert rule(x).tolist() == evaluate(rule.recipe(n), x).tolist()
    assert parse("aksel(count=1)")(x).tolist() in x.tolist()
    with pytest.raises(InputError, match="count must be at most n"):
        parse(f"aksel(count={n + 1})")(x)


def test_ctma_has_two_anchors():
    x = exactly(np.array([[0.0], [1.0], [2.0], [9.0], [10.0]]))
    # median 2: 0, 1, 2 and 9 are nearest; trimmed mean 4: the tie of 9 and ... is none, 10 is out at distance 6
    assert parse("ctma", f=1)(x).tolist() == [3]
    # trimmed mean (0 + 1 + 9)/3 with f = 2 is the median again
    assert parse("ctma(base='cwtm')", f=2)(x).tolist() == parse("ctma", f=2)(x).tolist() == [1]
    # values 0, 0, 6, 9, 9 have median 6 and trimmed mean 5: the 0 at distance 5 and 6, 9 at 3 and 4
    y = exactly(np.array([[-1.0], [0.0], [6.0], [9.0], [11.0]]))
    assert parse("ctma", f=1)(y).tolist() == [Fraction(26, 4)]
    assert parse("ctma(base='cwtm')", f=1)(y).tolist() == [Fraction(14, 4)]
    with pytest.raises(InputError, match="base must be one of"):
        parse("ctma(base='krum')", f=1)


def test_ties_of_norms_go_to_the_lower_index():
    x = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    assert parse("cge", f=1)(x).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(("norms", "limit"), [((1, 2, 9), 2), ((1, 2, 4, 9), 3)])
def test_the_median_of_the_norms(norms, limit):
    x = np.diag([float(norm) for norm in norms])
    assert parse("median_clipping")(x) == pytest.approx(np.minimum(norms, limit) / len(norms))


@pytest.mark.parametrize("name", ["cge", "median_clipping"])
def test_what_depends_on_the_origin_has_no_kappa(name):
    assert kg.search(name, 5, 1, evaluations=400).lower == float("inf")


def test_dnc_drops_what_stands_out():
    x = np.array([[0.0, 1.0], [0.0, -1.0], [8.0, 0.0], [0.5, 0.0], [-0.5, 0.0]])
    assert parse("dnc", f=1)(x).tolist() == x[[0, 1, 3, 4]].mean(axis=0).tolist()
    assert parse("dnc", f=0)(x) == pytest.approx(x.mean(axis=0))


@pytest.mark.parametrize(("n", "f"), [(5, 2), (9, 2), (9, 4), (17, 4)])
def test_one_byzantine_vector_hides_the_others_from_dnc(n, f):
    """Equal honest vectors, which are not returned: no kappa holds."""
    x = np.zeros((n, 2))
    x[0] = [100.0 * n, 0.0]
    x[1:f] = [100.0, 1.0]
    output = parse("dnc", f=f)(x)
    # the f - 1 of them stay, and as many honest ones go
    assert output == pytest.approx((f - 1) * np.array([100.0, 1.0]) / (n - f))


def test_filterl2_leaves_what_is_flat_enough_alone():
    x = np.random.default_rng(0).standard_normal((9, 3))
    largest = np.linalg.eigvalsh(np.cov(x.T, bias=True))[-1]
    mean = x.mean(axis=0)
    assert parse(f"filterl2(limit={largest * 1.001})")(x) == pytest.approx(mean)
    assert np.abs(parse(f"filterl2(limit={largest * 0.999})")(x) - mean).max() > 1e-3
    # the two ends of a line would both vanish
    assert parse("filterl2(limit=1.0)")(np.array([[-5.0], [5.0]])).tolist() == [0.0]


@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_smoothed_steps_lead_to_the_huber_estimate(tau):
    """min over y of sum_i h(||x_i - y||), h(r) = r^2/2 up to tau and tau r - tau^2/2 beyond: its gradient is zero."""
    x = np.random.default_rng(1).standard_normal((9, 3)) * 2
    y = parse(f"gm(steps=400, nu={tau})")(x)
    away = y - x
    pull = away * np.minimum(1, tau / np.linalg.norm(away, axis=1))[:, None]
    assert np.abs(pull.sum(axis=0)).max() < 1e-9


@pytest.mark.solver
@pytest.mark.parametrize(("name", "value"), [("aksel", Fraction(25, 9)), ("ctma", None)])
def test_kappa_follows_from_the_recipe(name, value):
    result = kg.exact(name, 5, 1)
    if value is not None:
        assert result.upper == value
        assert result.status is Status.EXACT
    assert 0 < result.lower <= result.upper
    assert result.certificate is not None
