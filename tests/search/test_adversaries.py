"""Each adversary alone against a rule whose kappa* is known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.search.adversaries.attacks import Attacks
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.boundaries import Boundaries
from kappaguard.search.adversaries.cells import CellAscent
from kappaguard.search.adversaries.chains import Chains
from kappaguard.search.adversaries.cma import CovarianceMatrixAdaptation
from kappaguard.search.adversaries.evolution import DifferentialEvolution
from kappaguard.search.adversaries.extremal import Extremal
from kappaguard.search.adversaries.frames import Frames
from kappaguard.search.adversaries.gradient import GradientAscent
from kappaguard.search.adversaries.guesses import Guesses
from kappaguard.search.adversaries.levels import Levels
from kappaguard.search.adversaries.local import LocalSearch
from kappaguard.search.adversaries.structured import Structured, arrangements
from kappaguard.search.arena import Arena
from kappaguard.search.portfolio import ADVERSARIES, hunt

pytestmark = pytest.mark.solver

N, F = 7, 2
KAPPA = {"cwmed": 1.5, "cwtm": 2 / 3, "meamed": 3.2}

# what each alone must reach within 4,000 evaluations, as a fraction of kappa*: half-way for those that need a start
REACHED: dict[type[Adversary], float] = {
    Structured: 0.99,
    Extremal: 0.99,
    Chains: 0.3,
    Levels: 0.99,
    CovarianceMatrixAdaptation: 0.9,
    LocalSearch: 0.9,
    CellAscent: 0.5,
    Boundaries: 0.5,
    GradientAscent: 0.9,
    DifferentialEvolution: 0.9,
    Attacks: 0.3,
}


def alone(adversary: Adversary, rule: str, evaluations: int) -> Arena:
    arena = Arena(kg.rule(rule, f=F), N, F, evaluations=evaluations)
    hunt(arena, 0, ((adversary, 1.0),))
    return arena


@pytest.mark.parametrize("kind", REACHED, ids=lambda kind: kind.name)
def test_each_finds_most_of_the_median(kind: type[Adversary]) -> None:
    arena = alone(kind(), "cwmed", 4000)
    assert arena.best is not None
    assert REACHED[kind] * KAPPA["cwmed"] <= arena.best.ratio <= KAPPA["cwmed"] * (1 + 1e-9)


@pytest.mark.parametrize("rule", KAPPA)
@pytest.mark.parametrize("kind", REACHED, ids=lambda kind: kind.name)
def test_none_finds_more_than_there_is(kind: type[Adversary], rule: str) -> None:
    arena = alone(kind(), rule, 1500)
    assert arena.best is None or arena.best.ratio <= KAPPA[rule] * (1 + 1e-9)


def test_all_are_in_the_portfolio() -> None:
    kinds = {type(adversary) for adversary, _ in ADVERSARIES}
    assert kinds == {*REACHED, Frames, Guesses}


# kappa* as certified at these (n, f): closed forms, and benchmarks/unseen.json
GUESSED = [
    ("krum(neighbours=3)", 9, 2, 7.636666),
    ("multikrum(select=2)", 9, 2, 3.24),
    ("mva", 9, 2, 1.6),
    ("faba", 9, 2, 2.00178),
    ("nnm+krum", 5, 2, 32 / 3),
    ("winsorised", 9, 2, 5 / 9),
    ("phocas", 9, 2, 1.6),
    ("cwtm", 9, 2, 0.4),
]


@pytest.mark.parametrize(("rule", "n", "f", "kappa"), GUESSED)
def test_a_recipe_is_guessed_from_outputs(rule: str, n: int, f: int, kappa: float) -> None:
    inner = kg.rule(rule, f=f)

    def unknown(x: np.ndarray) -> np.ndarray:
        return inner(x)

    arena = Arena(unknown, n, f, evaluations=20_000)
    hunt(arena, 0, ((Guesses(), 1.0),))
    assert arena.best is not None
    assert 0.999 * kappa <= arena.best.ratio <= kappa * (1 + 1e-5)


def test_guessing_leaves_most_of_a_small_budget_to_others() -> None:
    arena = Arena(lambda x: np.median(x, axis=-2) ** 3, N, F, evaluations=300)
    hunt(arena, 0, ((Guesses(), 1.0),))
    assert arena.used < 150


def test_frames_find_a_rule_that_minds_the_order() -> None:
    def trusts_worker_three(x: np.ndarray) -> np.ndarray:
        return x[3]

    from kappaguard.rules.foreign.resolve import resolve

    arena = Arena(resolve(trusts_worker_three, F), N, F, evaluations=2000)
    hunt(arena, 0, ((Levels(first=20), 1.0), (Frames(), 1.0)))
    assert arena.best is not None
    assert 3 not in arena.best.honest(N - F)
    assert arena.best.ratio > 100


def test_frames_find_an_absolute_constant() -> None:
    from kappaguard.rules.foreign.resolve import resolve

    def rounded(x: np.ndarray) -> np.ndarray:
        return np.round(np.median(x, axis=0), 4)

    arena = Arena(resolve(rounded, F), N, F, evaluations=4000)
    hunt(arena, 0, ((Levels(first=50, generations=4), 1.0), (Frames(), 1.0)))
    assert arena.best is not None
    assert arena.best.ratio > 10 * KAPPA["cwmed"] or math.isinf(arena.best.ratio)


def test_arrangements_are_permutations_and_one_is_enough_for_symmetric_rules() -> None:
    def unknown(x: np.ndarray) -> np.ndarray:
        return x[0]

    from kappaguard.rules.foreign.resolve import resolve

    orders = arrangements(Arena(resolve(unknown, F), N, F))
    assert len(orders) == 3
    assert all(sorted(order) == list(range(N)) for order in orders)
    assert len(arrangements(Arena(kg.rule("cwmed", f=F), N, F))) == 1


@pytest.mark.parametrize("d", [2, 3, 5000])
def test_reflections_keep_distances(d):
    from kappaguard.search.adversaries.frames import _reflected

    generator = np.random.default_rng(d)
    x = generator.normal(size=(6, d))
    turned = _reflected(generator, x)
    assert not np.allclose(turned, x)
    np.testing.assert_allclose(turned @ turned.T, x @ x.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", ["krum(neighbours=3)", "multikrum(select=3)"])
def test_boundaries_find_cells_of_selection_rules(rule: str) -> None:
    exact = kg.exact(rule, N, F)
    arena = alone(Boundaries(), rule, 40_000)
    assert arena.best is not None
    assert exact.upper is not None
    assert 0.99 * float(exact.lower) <= arena.best.ratio <= float(exact.upper) * (1 + 1e-6)


def test_boundaries_are_the_same_for_the_same_seed() -> None:
    first, second = (alone(Boundaries(), "krum", 5000) for _ in range(2))
    assert first.best is not None
    assert second.best is not None
    assert first.best.ratio == second.best.ratio
    np.testing.assert_array_equal(first.best.x, second.best.x)


def test_boundaries_read_weights_that_are_right() -> None:
    """The ratio that the weights say is the ratio of the rule."""
    from kappaguard.rules.ratio import ratio
    from kappaguard.search.adversaries.spaces import GramSpace

    places = np.array([0, 0, 0, 1, 1, 2, 2])
    space = GramSpace(places, N - F)
    points = space.draw(np.random.default_rng(0), 5)
    rule = kg.rule("krum", f=F)
    for point, x in zip(points, space.inputs(points), strict=True):
        weights = space.weights(x, np.asarray(rule(x)), None)
        assert weights is not None
        assert np.sort(weights) == pytest.approx([0] * 6 + [1], abs=1e-6)
        honest = list(range(N - F))
        assert space.expected(point[None], weights)[0] == pytest.approx(float(ratio(rule(x), x, honest)), rel=1e-6)
        np.testing.assert_allclose(space.point(x), point, rtol=1e-6, atol=1e-9)


def test_the_best_point_of_a_space_is_the_best_of_many() -> None:
    """Without walls the least distance problem on a line is Cauchy and Schwarz, and no point does better."""
    from kappaguard.search.adversaries.spaces import LineSpace

    generator = np.random.default_rng(1)
    space = LineSpace(N - F, F, generator.normal(size=(N, 1)))
    points = space.draw(generator, 400)
    weights = np.append(generator.normal(size=N - F - 1), np.zeros(F))
    best = space.expected(space.optimum(weights, [], points[0])[None], weights)[0]
    assert best >= space.expected(points, weights).max()
    along = weights[: N - F - 1]
    form = space.form[: N - F - 1, : N - F - 1]
    assert best == pytest.approx(along @ np.linalg.solve(form, along), rel=1e-6)
