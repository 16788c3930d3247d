"""The performance-estimation programs: known answers, on every solver, and against PEPit."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from kappaguard.verify.theory.performance.descent import Descent, _interpolation

pytestmark = pytest.mark.solver

SOLVERS = ("clarabel", "clarabel, regularised", "scs")


def exact_rate(steps: int, step: float) -> float:
    """The exact worst min ||grad||^2 of gradient descent on smooth functions, for L = gap = 1 and steps in (0, sqrt 3).

    Abbaszadehpeivasti, de Klerk, Zamani, Optim. Lett. 16 (2022), for steps - 1 steps.
    """
    return 4 / ((steps - 1) * min(4 * step - step**3, 4 * step - step**2) + 2)


def worst(steps: int, error: float, gap: float, solver: str | None = None, step: float = 1.0) -> float:
    return max(Descent(steps, output, step).value(error, gap, solver).value for output in range(1, steps + 1))


@pytest.mark.parametrize("step", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_gradient_descent_without_error_has_the_rate_of_the_literature(steps, step):
    # Without error the program has no interior point, and the solver loses digits.
    assert worst(steps, 0.0, 1.0, step=step) == pytest.approx(exact_rate(steps, step), rel=2e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("steps", "error", "gap", "expected"), [(1, 1.0, 3.0, 6.0), (2, 0.0, 1.0, 0.8), (3, 1.0, 4.5, 9.0)]
)
def test_known_answers_on_every_solver(solver, steps, error, gap, expected):
    assert worst(steps, error, gap, solver) == pytest.approx(expected, rel=2e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_step_at_random_is_the_smoothness_bound(solver):
    assert Descent(1).value(1.0, 2.0, solver).value == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize("steps", [3, 4, 5])
def test_worst_ratio_of_theorem_1(steps):
    estimates = [Descent(steps, output).ratio(4.0, 4.0) for output in range(1, steps + 1)]
    best = max(estimates, key=lambda estimate: estimate.value)
    assert best.value == pytest.approx(9 * steps / (4 * steps + 18), abs=1e-6)
    assert best is estimates[0]
    assert best.dimension == 1
    unit = math.copysign(math.sqrt(best.error), best.gradients[0, 0])
    assert best.gradients[:, 0] / unit == pytest.approx(
        [3.0, *(1.0 if t % 2 else -1.0 for t in range(1, steps))], abs=1e-3
    )
    assert best.aggregates[: steps - 1, 0] / unit == pytest.approx(
        [2.0, *(2.0 if t % 2 else -2.0 for t in range(1, steps - 1))], abs=1e-3
    )
    assert best.gap / best.error == pytest.approx(4.5, abs=1e-3)


def test_an_estimate_is_a_run():
    run = Descent(4, 2).value(1.0, 6.0)
    assert np.sum(run.gradients[1] ** 2) == pytest.approx(run.value, rel=1e-3)
    assert np.all(np.sum((run.gradients - run.aggregates) ** 2, axis=1) <= 1 + 1e-3)
    norms = np.linalg.norm(run.aggregates, axis=1)
    assert norms[1] <= norms.min() + 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_smooth_functions_satisfy_the_interpolation_conditions(seed):
    """sum_k w_k cos(<u_k, x> + p_k) has curvature at most sum |w_k| ||u_k||^2, and all pairs of its points comply."""
    random = np.random.default_rng(seed)
    directions, phases = random.normal(size=(6, 3)), random.uniform(0, 6, size=6)
    weights = random.normal(size=6)
    weights /= np.sum(np.abs(weights) * np.sum(directions**2, axis=1))
    points = 3 * random.normal(size=(8, 3))
    angles = points @ directions.T + phases
    losses, gradients = np.cos(angles) @ weights, -(np.sin(angles) * weights) @ directions
    basis = np.eye(16)
    vectors = np.vstack([gradients, points])
    gram = vectors @ vectors.T
    for i in range(8):
        for j in range(8):
            form = _interpolation(basis[:8], basis[8:], i, j)
            assert losses[i] >= losses[j] + np.sum(gram * form) - 1e-12


def test_the_two_questions_agree():
    """The supremum of the ratio is 1 for the least factor of the gap."""
    factor = max(Descent(3, output).remainder(9.0).value for output in (1, 2, 3))
    assert max(Descent(3, output).ratio(9.0, factor).value for output in (1, 2, 3)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("wrong", [(0, None, 1.0), (2, 3, 1.0), (2, 0, 1.0), (2, 1, 0.0)])
def test_no_such_run(wrong):
    with pytest.raises(ValueError, match="no such run"):
        Descent(*wrong)


@pytest.mark.parametrize(
    ("steps", "output", "gap"), [(1, 1, 3.0), (2, 1, 5.0), (2, 2, 3.0), (3, 1, 4.5), (3, 2, 6.0), (4, 1, 4.5)]
)
def test_pepit_finds_the_same(steps, output, gap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pepit(steps, output, gap) == pytest.approx(Descent(steps, output).value(1.0, gap).value, rel=2e-4)


def pepit(steps: int, output: int, gap: float) -> float:
    """The program with E = L = 1, stated anew in PEPit."""
    library = pytest.importorskip("PEPit")
    functions = pytest.importorskip("PEPit.functions")
    problem = library.PEP()
    loss = problem.declare_function(functions.SmoothFunction, L=1.0)
    lowest = loss(loss.stationary_point())
    point = problem.set_initial_point()
    problem.set_initial_condition(loss(point) - lowest <= gap)
    gradients, aggregates = [], []
    for _ in range(steps):
        gradients.append(loss.gradient(point))
        aggregates.append(library.Point())
        problem.add_constraint((aggregates[-1] - gradients[-1]) ** 2 <= 1)
        problem.add_constraint(loss(point) - lowest >= gradients[-1] ** 2 / 2)
        point = point - aggregates[-1]
    for aggregate in aggregates:
        if aggregate is not aggregates[output - 1]:
            problem.add_constraint(aggregates[output - 1] ** 2 <= aggregate**2)
    problem.set_performance_metric(gradients[output - 1] ** 2)
    return float(problem.solve(verbose=0))
