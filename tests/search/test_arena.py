"""The arena: what it reports is what the rule does, whoever plays which role."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kappaguard.rules.foreign.resolve import resolve
from kappaguard.search.arena import Arena, Candidate, Exhausted


def naive_ratio(output: np.ndarray, x: np.ndarray, honest: list[int]) -> float:
    mean = sum(x[i] for i in honest) / len(honest)
    spread = sum(float(np.sum((x[i] - mean) ** 2)) for i in honest) / len(honest)
    return float(np.sum((output - mean) ** 2)) / spread


def first_worker(x: np.ndarray) -> np.ndarray:
    return x[0]


def test_every_candidate_is_as_good_as_it_says() -> None:
    arena = Arena(resolve(first_worker, 2), 6, 2)
    generator = np.random.default_rng(0)
    for _ in range(20):
        arena.ratios(generator.normal(size=(5, 6, 2)), generator.permutation(6).tolist())
    assert arena.pool
    for candidate in arena.pool:
        seen = candidate.input
        assert candidate.ratio == pytest.approx(naive_ratio(first_worker(seen), seen, candidate.honest(4)))


def test_a_worse_set_is_found_for_the_best_input() -> None:
    """Roles say that the outlier is honest; leaving it out is worse for the rule that follows it."""
    arena = Arena(resolve(first_worker, 1), 4, 1)
    arena.ratios(np.array([[[10.0], [0.0], [1.0], [2.0]]]))
    assert arena.best is not None
    seen = arena.best.input
    assert 0 not in arena.best.honest(3)
    assert arena.best.ratio == pytest.approx(naive_ratio(seen[0], seen, arena.best.honest(3)))


def test_faults_are_counted_and_not_ratios() -> None:
    def sometimes(x: np.ndarray) -> np.ndarray:
        if x[0, 0] > 0:
            raise ValueError("too large")
        return x[0]

    arena = Arena(resolve(sometimes, 1), 4, 1)
    x = np.random.default_rng(0).normal(size=(40, 4, 1))
    values = arena.ratios(x)
    assert np.array_equal(np.isinf(values) & (values < 0), x[:, 0, 0] > 0)
    assert arena.faults == int(np.sum(x[:, 0, 0] > 0))
    assert arena.fault is not None
    assert "too large" in str(arena.fault)


def test_the_budget_in_evaluations_is_kept() -> None:
    arena = Arena(resolve(first_worker, 1), 4, 1, evaluations=10)
    with pytest.raises(Exhausted):
        arena.ratios(np.random.default_rng(0).normal(size=(30, 4, 1)))
    assert arena.used == 10


def test_a_target_ends_it_only_if_the_judge_agrees() -> None:
    seen: list[float] = []

    def refuse(candidate: Candidate) -> bool:
        seen.append(candidate.ratio)
        return False

    x = np.random.default_rng(0).normal(size=(30, 4, 1))
    arena = Arena(resolve(first_worker, 1), 4, 1, target=0.1, settles=refuse)
    for each in x:
        arena.ratios(each[None])
    assert seen
    assert seen == sorted(seen)
    with pytest.raises(Exhausted):
        Arena(resolve(first_worker, 1), 4, 1, target=0.1).ratios(x)


def test_honest_vectors_that_differ_by_rounding_only_do_not_count() -> None:
    arena = Arena(resolve(first_worker, 1), 3, 1)
    values = arena.ratios(np.array([[[1.0], [1.0 + 1e-15], [5.0]]]), [2, 0, 1])
    assert values[0] == -math.inf


def test_a_given_dimension_is_kept() -> None:
    widths = []

    def watched(x: np.ndarray) -> np.ndarray:
        widths.append(x.shape[1])
        return x[0]

    arena = Arena(resolve(watched, 1), 4, 1, dimension=3)
    arena.ratios(np.random.default_rng(0).normal(size=(2, 4, 1)))
    assert set(widths) == {3}
    assert max(arena.dimensions()) == 3
