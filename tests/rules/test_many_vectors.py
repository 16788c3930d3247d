"""What rules do otherwise when there are many vectors: selection instead of sorting, mixtures about a central one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kappaguard.rules.cloud import mixed_distances
from kappaguard.rules.krum import scores
from kappaguard.rules.ordering import order, smallest
from kappaguard.rules.weights import uniform


@pytest.mark.parametrize("levels", [0, 3, 40])
@pytest.mark.parametrize("count", [1, 50, 74, 99])
def test_selection_is_what_sorting_gives_ties_included(levels: int, count: int) -> None:
    generator = np.random.default_rng(count)
    values = generator.random(size=(20, 100))
    if levels:
        values = np.ceil(values * levels) * (1 + 1e-13 * generator.random(size=values.shape))
    expected = np.argsort(order(values), axis=-1) < count
    np.testing.assert_array_equal(smallest(values, count), expected)


def test_scores_of_many_are_those_of_sorting() -> None:
    distances = np.random.default_rng(0).random(size=(100, 100))
    np.testing.assert_allclose(scores(distances, 70), np.sort(distances)[:, :70].sum(axis=1), rtol=1e-13)


def _exact(weights: np.ndarray, distances: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """-1/2 (u - v)^T D (u - v) in fractions, weights counted in k-ths."""
    table = [[Fraction(value) for value in row] for row in distances.tolist()]
    found = []
    for one, two in pairs:
        difference = weights[one].astype(int) - weights[two].astype(int)
        used = np.flatnonzero(difference)
        total = sum(int(difference[i]) * int(difference[j]) * table[i][j] for i in used for j in used)
        found.append(float(-total / 2))
    return found


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_mixtures_of_many_nearest_keep_their_digits(far: float) -> None:
    """Nearly orthogonal vectors have mixtures that are close to each other; some vectors are far away."""
    n, f = 120, 30
    generator = np.random.default_rng(7)
    x = generator.integers(-50, 51, size=(n, 600)).astype(float)
    x[n - f :] += far
    gram = x @ x.T
    distances = gram.diagonal()[:, None] + gram.diagonal() - 2 * gram
    mask = smallest(distances, n - f)
    found = mixed_distances(uniform(mask, n - f, distances), distances)
    assert found is not None
    pairs = [(0, 1), (3, 50), (20, 89), (5, 60), (40, 41)]
    exact = _exact(mask, distances, pairs)
    rows, columns = np.array(pairs).T
    np.testing.assert_allclose(found[rows, columns] * (n - f) ** 2, exact, rtol=1e-11)
    assert np.all(found.diagonal() == 0)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)


@pytest.mark.parametrize(("n", "d", "apart"), [(150, 400, 0.0), (150, 3, 0.0), (200, 40, 8.0), (150, 1, 0.0)])
def test_conjugate_gradients_lead_to_the_same_median(
    n: int, d: int, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kappaguard as kg
    from kappaguard.rules import weiszfeld

    x = np.random.default_rng(n + d).normal(size=(n, d))
    x[: n // 4] += apart
    rule = kg.rule("gm", f=n // 4)
    found = rule(x)
    monkeypatch.setattr(weiszfeld, "_conjugate_gradients", lambda inverse, cosines: None)
    np.testing.assert_allclose(found, rule(x), rtol=1e-9, atol=1e-9 * float(np.abs(x).max()))
