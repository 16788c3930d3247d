"""Inputs with symmetry: what they stand for, and how they are recovered."""

from __future__ import annotations

import numpy as np
import pytest

from kappaguard.search.grouped import Grouped, distinct, recovered


def distances(x: np.ndarray) -> np.ndarray:
    return np.array([[float(np.sum((a - b) ** 2)) for b in x] for a in x])


def sample(seed: int, scattered: bool) -> Grouped:
    generator = np.random.default_rng(seed)
    scatters = np.abs(generator.normal(size=(1, 3))) * scattered
    return Grouped(generator.normal(size=(1, 3, 2)), scatters, np.array([[0, 0, 0, 1, 1, 2, 2, 2]]))


def test_without_scatter_workers_of_a_group_send_the_same() -> None:
    grouped = sample(0, False)
    x = grouped.inputs()[0]
    for worker, group in enumerate(grouped.places[0]):
        assert x[worker].tolist() == grouped.levels[0, group].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_scatter_keeps_means_and_separates_members(seed: int) -> None:
    grouped = sample(seed, True)
    x = grouped.inputs()[0]
    for group in range(3):
        members = x[grouped.places[0] == group]
        scatter = grouped.scatters[0, group]
        mean = members.mean(axis=0)
        np.testing.assert_allclose(mean[:2], grouped.levels[0, group], atol=1e-12)
        np.testing.assert_allclose(mean[2:], 0, atol=1e-12)
        for a in range(len(members)):
            for b in range(a):
                assert np.sum((members[a] - members[b]) ** 2) == pytest.approx(2 * scatter**2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scattered", [False, True])
def test_recovered_has_the_same_distances(seed: int, scattered: bool) -> None:
    x = sample(seed, scattered).inputs()[0]
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(x.shape[1],) * 2))[0]
    again = recovered(x @ turn + 3)
    np.testing.assert_allclose(distances(again.inputs()[0]), distances(x), atol=1e-5 * float(distances(x).max()))
    assert again.levels.shape[1] == 3


def test_recovered_of_points_in_general_position_is_one_group_each() -> None:
    x = np.random.default_rng(1).normal(size=(6, 4))
    again = recovered(x)
    assert again.levels.shape[1] == 6
    np.testing.assert_allclose(distances(again.inputs()[0]), distances(x), atol=1e-9)


def test_distinct_keeps_coordinates() -> None:
    x = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    assert distinct(x).inputs()[0].tolist() == x.tolist()
    assert distinct(x).levels.shape == (1, 3, 2)
