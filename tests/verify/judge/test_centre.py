"""The vectors nearest to a centre by coordinates: bounds against other programs, all small inputs, and forgeries."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.recipe.evaluate import evaluate
from kappaguard.rules.recipe.recipe import NearVector, Recipe
from kappaguard.rules.recipe.weights import equal, median
from kappaguard.search.exact.centre import bound_of, centre_bound
from kappaguard.verify.judge.checker import check
from kappaguard.verify.judge.rejected import Rejected
from kappaguard.verify.judge.result import Status

pytestmark = pytest.mark.solver


def half(n: int) -> Recipe:
    return Recipe(n, NearVector(median(n), n // 2 + 1))


@pytest.mark.parametrize(
    ("n", "f", "value"),
    [(9, 2, "289/75"), (10, 2, "25/9"), (11, 4, "841/90"), (5, 2, "8"), (7, 2, "121/24"), (12, 4, "4489/735")],
)
def test_the_half_around_the_median_is_exact(n: int, f: int, value: str) -> None:
    result = kg.exact(half(n), n, f)
    assert result.upper == Fraction(value)
    assert result.status is Status.EXACT
    assert result.lower < result.upper


@pytest.mark.parametrize(("n", "f"), [(5, 1), (9, 2), (11, 4), (17, 4), (16, 3)])
def test_the_honest_number_around_the_trimmed_mean_costs_four_times_its_own(n: int, f: int) -> None:
    """As nnm in front of it does: 4 f/(n - 2f)."""
    result = kg.exact(Recipe(n, NearVector(equal(n, f, n - f), n - f)), n, f)
    assert result.upper == Fraction(4 * f, n - 2 * f)
    assert result.status is Status.EXACT


def primal(m: int, h: int, r: int, centre: float) -> float:
    """The largest ||F||^2 in the Gram matrix of alpha, c and beta, written down again for a modelling language."""
    import cvxpy as cp

    a, u = h - r, m - h + r
    gram, scatter = cp.Variable((3, 3), PSD=True), cp.Variable(2, nonneg=True)
    alpha, middle, beta = np.eye(3)
    alpha, beta = alpha * (a > 0), beta * (r > 0)
    nu = -a / u * alpha

    def square(vector):
        return cp.sum(cp.multiply(gram, np.outer(vector, vector)))

    outside = square(nu - middle) + scatter[1]
    rules = [(a * (square(alpha) + scatter[0]) + u * (square(nu) + scatter[1])) / m <= 1, square(middle) <= centre]
    rules += [square(beta - middle) <= outside] if r else []
    rules += [square(alpha - middle) + scatter[0] <= outside] if a else []
    problem = cp.Problem(cp.Maximize(square((a * alpha + r * beta) / h)), rules)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


@pytest.mark.parametrize(("n", "f", "h"), [(9, 2, 5), (9, 3, 4), (9, 3, 2), (10, 3, 7), (17, 8, 3)])
def test_the_bound_is_that_of_the_primal_program(n: int, f: int, h: int) -> None:
    recipe = Recipe(n, NearVector(median(n), h))
    centre = float(centre_bound(recipe, f)[0])
    wanted = max(primal(n - f, h, r, centre) for r in range(min(f, h) + 1) if n - f - h + r)
    assert bound_of(recipe, f)[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(
    ("n", "f", "h", "width", "d"), [(4, 1, 3, 4, 1), (5, 1, 3, 4, 1), (4, 1, 2, 2, 2), (5, 2, 2, 4, 1)]
)
def test_no_small_input_is_above_the_bound(n: int, f: int, h: int, width: int, d: int) -> None:
    recipe = Recipe(n, NearVector(median(n), h))
    upper = kg.exact(recipe, n, f).upper
    worst = Fraction(0)
    places = list(product(range(width + 1), repeat=d))
    for honest in combinations_with_replacement(places, n - f):
        mean = [Fraction(sum(column), n - f) for column in zip(*honest, strict=True)]
        variance = sum((value - middle) ** 2 for row in honest for value, middle in zip(row, mean, strict=True)) / (
            n - f
        )
        if not variance:
            continue
        for byzantine in combinations_with_replacement(list(product(range(-width, 2 * width + 1), repeat=d)), f):
            x = np.array([[Fraction(value) for value in row] for row in (*honest, *byzantine)], dtype=object)
            error = sum((a - b) ** 2 for a, b in zip(evaluate(recipe, x), mean, strict=True))
            worst = max(worst, error / variance)
    assert upper is not None
    assert 0 < worst <= upper


def test_more_near_than_honest_is_infinite() -> None:
    assert kg.exact(Recipe(7, NearVector(median(7), 6)), 7, 2).status is Status.INFINITE


def certificate() -> dict:
    text = kg.exact(half(9), 9, 2).certificate
    assert text is not None
    assert check(text).upper == Fraction(289, 75)
    return json.loads(text)


def test_a_changed_certificate_is_rejected() -> None:
    data = certificate()
    nodes = data["nodes"]
    changes = [
        data | {"upper": "288/75"},
        data | {"nodes": nodes | {"cases": nodes["cases"][:-1]}},
        data | {"nodes": nodes | {"cases": [*nodes["cases"], nodes["cases"][-1]]}},
        data | {"nodes": nodes | {"centre": "13/10"}},
        data | {"nodes": nodes | {"centre": "-1"}},
        data | {"nodes": nodes | {"runs": nodes["runs"][:1]}},
        data | {"nodes": {key: value for key, value in nodes.items() if key != "runs"}},
        data | {"nodes": []},
        data | {"f": 3},
        data | {"recipe": data["recipe"] | {"around": data["recipe"]["around"] | {"count": 4}}},
        data | {"recipe": data["recipe"] | {"mixing": [7]}},
    ]
    last = nodes["cases"][-1]
    for place in range(3):
        for value in ("-1", "1/0", "0.5", 1, str(Fraction(last[place]) + 1)):
            case = [*last[:place], value, *last[place + 1 :]]
            changes.append(data | {"nodes": nodes | {"cases": [*nodes["cases"][:-1], case]}})
    for changed in changes:
        with pytest.raises(Rejected):
            check(json.dumps(changed | {"rule": json.dumps(changed["recipe"])}))


def test_weights_that_an_adversary_can_move_have_no_certificate() -> None:
    """A centre that an outer place moves is anywhere, and so is what is near it."""
    data = certificate()
    weights = [*equal(9, 0, 9)]
    recipe = data["recipe"] | {"around": {"centre": [str(weight) for weight in weights], "count": 5}}
    with pytest.raises(Rejected, match="an outer place has weight"):
        check(json.dumps(data | {"recipe": recipe, "rule": json.dumps(recipe)}))
    assert kg.exact(Recipe(9, NearVector(tuple(weights), 5)), 9, 2).upper in (None, float("inf"))


def test_the_one_vector_nearest_to_the_median_is_bad_in_the_plane() -> None:
    found = kg.exact(Recipe(7, NearVector(median(7), 1)), 7, 1)
    # on a line it is 1; the upper bound is 3 + 2 sqrt 2
    assert found.lower > 5.8
    assert found.upper is not None
    assert abs(float(found.upper) - (3 + 2 * 2**0.5)) < 1e-5
