"""The ratio against its definition in loops over fractions, and the worst set against all sets."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import rule
from kappaguard.rules.ratio import CRITERIA, members, ratio
from kappaguard.rules.subsets import worst_subset

from .inputs import exactly

RATIONAL = ["trace", "diameter", "pairwise"]


def by_definition(output, x, subset, criterion):
    """The ratio of rows of numbers, each taken as the fraction that it is; spectral by power iteration in floats."""
    rows = [[Fraction(v) for v in x[i]] for i in subset]
    size, n = len(rows), len(x)
    mean = [sum(column) / size for column in zip(*rows, strict=True)]
    error = sum((Fraction(o) - m) ** 2 for o, m in zip(output, mean, strict=True))
    centred = [[v - m for v, m in zip(row, mean, strict=True)] for row in rows]
    far = max((sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for a in rows for b in rows), default=0)
    spread = {
        "trace": sum(v * v for row in centred for v in row) / size,
        "diameter": far,
        "pairwise": far * (n - size) / n,
    }.get(criterion)
    if criterion == "spectral":
        matrix = np.array([[float(v) for v in row] for row in centred])
        spread = Fraction(float(np.linalg.norm(matrix, 2)) ** 2 / size)
    return error / spread if spread else (math.inf if error else Fraction(0))


@st.composite
def cases(draw):
    n = draw(st.integers(2, 7))
    f = draw(st.integers(0, n - 1))
    d = draw(st.integers(1, 4))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    x = generator.integers(-3, 4, (n, d)) if draw(st.booleans()) else generator.standard_normal((n, d))
    subset = sorted(generator.permutation(n)[: n - f].tolist())
    output = generator.standard_normal(d) if draw(st.booleans()) else x[0]
    return output.astype(float), x.astype(float), subset


@given(cases(), st.sampled_from(sorted(CRITERIA)))
@settings(max_examples=150, deadline=None)
def test_the_ratio_is_its_definition(case, criterion):
    output, x, subset = case
    expected = by_definition(output.tolist(), x.tolist(), subset, criterion)
    assert ratio(output, x, subset, criterion) == pytest.approx(float(expected), rel=1e-9, abs=1e-12)
    tensors = ratio(torch.from_numpy(output), torch.from_numpy(x), subset, criterion)
    assert float(tensors) == pytest.approx(float(expected), rel=1e-9, abs=1e-12)
    if criterion in RATIONAL:
        assert ratio(exactly(output), exactly(x), subset, criterion) == expected


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor])
def test_a_batch_is_a_loop(criterion, make):
    generator = np.random.default_rng(1)
    x, output = generator.standard_normal((2, 3, 6, 4)), generator.standard_normal((2, 3, 4))
    masks = np.zeros((2, 3, 6), dtype=bool)
    for place in np.ndindex(2, 3):
        masks[place][generator.permutation(6)[:4]] = True
    batch = ratio(make(output), make(x), make(masks), criterion)
    for place in np.ndindex(2, 3):
        subset = np.flatnonzero(masks[place])
        alone = by_definition(output[place].tolist(), x[place].tolist(), subset.tolist(), criterion)
        assert float(batch[place]) == pytest.approx(float(alone))
    one = ratio(make(output), make(x), [0, 2, 3], criterion)
    assert float(one[1, 2]) == pytest.approx(
        float(by_definition(output[1, 2].tolist(), x[1, 2].tolist(), [0, 2, 3], criterion))
    )
    many = ratio(make(output[0, 0]), make(x[0, 0]), make(masks), criterion)
    assert many.shape == (2, 3)


def test_fractions_in_a_batch():
    x = exactly(np.random.default_rng(2).integers(-3, 4, (5, 4, 2)).astype(float))
    output = x[:, 0]
    values = ratio(output, x, [1, 2, 3], "diameter")
    expected = [by_definition(o, rows, [1, 2, 3], "diameter") for o, rows in zip(output, x, strict=True)]
    assert values.tolist() == expected


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_no_spread(criterion):
    x = np.array([[1.0, 2.0], [1.0, 2.0], [7.0, 7.0]])
    assert ratio(x[0], x, [0, 1], criterion) == 0
    assert ratio(x[2], x, [0, 1], criterion) == math.inf
    assert ratio(x[0] + [0, 1e-9], x, [0, 1], criterion) == math.inf
    if criterion in RATIONAL:
        assert ratio(exactly(x[0]), exactly(x), [0, 1], criterion) == 0
        assert ratio(exactly(x[2]), exactly(x), [0, 1], criterion) == math.inf


def test_a_rounding_of_equal_vectors_is_no_error():
    x = np.full((3, 1), 0.1)
    output = x.sum(axis=0) / 3
    assert output[0] != 0.1
    assert ratio(output, x, [0, 1, 2]) == 0


def test_tiny_errors_over_no_spread_do_not_vanish():
    assert ratio(np.array([1e-200]), np.zeros((2, 1)), [0, 1]) == math.inf


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize(
    ("offset", "size"), [(1e6, 1e-3), (0.0, 1e150), (0.0, 1e-150), (0.0, 1e307), (-1e12, 1.0), (0.0, 1e-300)]
)
def test_offsets_and_magnitudes(criterion, offset, size):
    generator = np.random.default_rng(3)
    x = offset + size * generator.uniform(-1, 1, (6, 3))
    output = offset + size * generator.uniform(-1, 1, 3)
    expected = by_definition(output.tolist(), x.tolist(), [0, 1, 2, 3], criterion) if criterion != "spectral" else None
    value = float(ratio(output, x, [0, 1, 2, 3], criterion))
    if expected is None:
        moved = [[float((Fraction(v) - Fraction(offset)) / Fraction(size)) for v in row] for row in (*x, output)]
        expected = by_definition(moved[-1], moved[:-1], [0, 1, 2, 3], criterion)
    assert value == pytest.approx(float(expected), rel=1e-9)


def test_infinite_vectors_outside_the_set():
    x = np.array([[0.0], [1.0], [2.0], [np.inf]])
    assert ratio([1.5], x, [0, 1, 2]) == pytest.approx(0.375)
    assert ratio([np.inf], x, [0, 1, 2]) == math.inf
    with pytest.raises(InputError, match="not finite"):
        ratio([1.5], x, [1, 2, 3])
    found = worst_subset(np.array([2.0]), x, 1)
    assert found.subset.tolist() == [0, 1, 2]


def test_nan_stays_nan():
    assert math.isnan(ratio([math.nan], np.array([[0.0], [1.0]]), [0, 1]))


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_the_gradient_is_that_of_differences(criterion):
    x = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    torch.autograd.gradcheck(lambda points: ratio(points[4], points, [0, 1, 2, 3], criterion), (x,))


def test_the_gradient_at_no_spread_is_not_nan():
    x = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    ratio(torch.ones(2, dtype=torch.float64), x, [0, 1]).backward()
    assert torch.all(torch.isfinite(x.grad))


@pytest.mark.parametrize("n", [3, 4, 7, 10, 17])
def test_the_universal_lower_bound_is_attained_by_the_papers_input(n):
    for f in range(1, (n - 1) // 2 + 1):
        x = exactly(np.array([[0.0]] * (n - f) + [[1.0]] * f))
        for name in ("cwmed", "cwtm", "krum", "meamed", "mda"):
            output = rule(name, f=f)(x)
            assert output[0] == 0
            assert ratio(output, x, range(f, n)) == Fraction(f, n - 2 * f)


@pytest.mark.parametrize("n", [3, 4, 7, 10, 17])
def test_the_rule_specific_lower_bound_is_attained_by_the_papers_input(n):
    for f in range(1, (n - 1) // 2 + 1):
        low = (n - f) // 2
        x = exactly(np.array([[-1.0]] * low + [[1.0]] * (n - low)))
        expected = Fraction(1) if (n - f) % 2 == 0 else Fraction(n - f - 1, n - f + 1)
        for name in ("cwmed", "krum"):
            assert ratio(rule(name, f=f)(x), x, range(n - f)) == expected
        assert ratio(rule("gm")(x.astype(float)), x.astype(float), range(n - f)) == pytest.approx(float(expected))


@given(st.integers(0, 10**6), st.sampled_from(sorted(CRITERIA)), st.booleans())
@settings(max_examples=80, deadline=None)
def test_the_worst_set_is_the_worst_of_all(seed, criterion, integer):
    generator = np.random.default_rng(seed)
    n, d = int(generator.integers(2, 8)), int(generator.integers(1, 4))
    f = int(generator.integers(0, n))
    x = generator.integers(-2, 3, (n, d)).astype(float) if integer else generator.standard_normal((n, d))
    output = generator.standard_normal(d)
    every = [by_definition(output.tolist(), x.tolist(), s, criterion) for s in combinations(range(n), n - f)]
    found = worst_subset(output, x, f, criterion)
    assert found.exact
    assert float(found.ratio) == pytest.approx(float(max(every)), rel=1e-9, abs=1e-12)
    at = by_definition(output.tolist(), x.tolist(), found.subset.tolist(), criterion)
    assert float(at) == pytest.approx(float(found.ratio), rel=1e-9, abs=1e-12)
    guess = worst_subset(output, x, f, criterion, most_sets=0)
    assert float(guess.ratio) <= float(max(every)) * (1 + 1e-9) + 1e-12
    if criterion in RATIONAL and n < 7:
        assert worst_subset(exactly(output), exactly(x), f, criterion).ratio == max(every)


def test_in_one_dimension_windows_are_enough_for_every_n():
    x = np.random.default_rng(4).standard_normal((14, 1))
    output = np.array([0.3])
    found = worst_subset(output, x, 6, most_sets=0)
    every = max(float(ratio(output, x, s)) for s in combinations(range(14), 8))
    assert found.exact
    assert found.ratio == pytest.approx(every)


def test_the_heuristic_says_so_and_is_good():
    generator = np.random.default_rng(5)
    shares = []
    for _ in range(20):
        x = generator.standard_normal((11, 3))
        x[:3] += 3 * generator.standard_normal(3)
        output = np.median(x, axis=0)
        guess, truth = worst_subset(output, x, 3, most_sets=0), worst_subset(output, x, 3)
        assert (guess.exact, truth.exact) == (False, True)
        shares.append(guess.ratio / truth.ratio)
    assert max(shares) <= 1 + 1e-12
    assert min(shares) > 0.9


def test_an_outlier_beyond_the_squares_of_floats_does_not_hide_a_set():
    x = np.array([[0.0, 0.0]] * 3 + [[1.0, 0.0], [0.0, 1.0], [1e200, 0.0], [1e200, 0.0]])
    found = worst_subset(np.zeros(2), x, 2)
    assert found.exact
    every = [by_definition([0, 0], x.tolist(), s, "trace") for s in combinations(range(7), 5)]
    assert found.ratio == pytest.approx(float(max(every)))
    assert set(found.subset.tolist()) >= {5, 6}


def test_many_inputs_at_once():
    generator = np.random.default_rng(6)
    x, output = generator.standard_normal((3, 2, 5, 2)), generator.standard_normal((3, 2, 2))
    found = worst_subset(torch.from_numpy(output), torch.from_numpy(x), 2)
    assert found.ratio.shape == (3, 2)
    assert found.subset.shape == (3, 2, 3)
    assert np.allclose(found.ratio, ratio(output, x, found.subset))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ratio([0.0], [[0.0], [1.0]], [0, 0]), "different indices"),
        (lambda: ratio([0.0], [[0.0], [1.0]], [2]), "between 0 and 1"),
        (lambda: ratio([0.0], [[0.0], [1.0]], []), "non-empty"),
        (lambda: ratio([0.0], [[0.0], [1.0]], [0.5]), "indices or a mask"),
        (lambda: ratio([0.0, 1.0], [[0.0], [1.0]], [0]), "does not belong"),
        (lambda: ratio([0.0], [[0.0], [1.0]], [0], "median"), "no criterion is called 'median'"),
        (lambda: ratio([0.0], exactly(np.eye(2)[:, :1]), [0]), "both be exact"),
        (lambda: ratio(exactly(np.zeros(1)), exactly(np.eye(2)[:, :1]), [0], "spectral"), "irrational"),
        (lambda: worst_subset(np.zeros(1), np.zeros((2, 1)), 2), "f must be between"),
        (lambda: worst_subset(np.zeros(1), np.full((2, 1), np.inf), 1), "0 of the 2 vectors are finite"),
        (lambda: members(np.array([[True, False], [True, True]]), 2), "same size"),
        (lambda: members(np.array([True]), 2), "one entry for each"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(InputError, match=said):
        call()
