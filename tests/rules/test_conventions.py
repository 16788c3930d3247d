"""The fixed conventions: ties, even n, the neighbour count, bucket sizes; the same on every backend and fast path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from kappaguard.rules.bucketing import Bucketing
from kappaguard.rules.names import parse

from . import naive
from .inputs import exactly

REPEATS = 1024
"""So many copies of each coordinate make the matrix large enough for the compiled kernels; no tie is broken."""


def on_numpy(rule, x):
    return rule(x)


def on_single(rule, x):
    return rule(x.astype(np.float32))


def on_large(rule, x):
    return rule(np.repeat(x, REPEATS, axis=1))[::REPEATS]


def on_large_single(rule, x):
    return rule(np.repeat(x, REPEATS, axis=1).astype(np.float32))[::REPEATS]


def on_torch(rule, x):
    return rule(torch.tensor(x)).numpy()


def on_torch_with_gradient(rule, x):
    return rule(torch.tensor(x, requires_grad=True)).detach().numpy()


def in_a_batch(rule, x):
    return rule(np.stack([x + 1, x]))[1]


def on_fractions(rule, x):
    return rule(exactly(x)).astype(float)


FLOATS = (on_numpy, on_single, on_large, on_large_single, on_torch, on_torch_with_gradient, in_a_batch)
every_backend = pytest.mark.parametrize("backend", [*FLOATS, on_fractions], ids=lambda each: each.__name__)
float_backends = pytest.mark.parametrize("backend", FLOATS, ids=lambda each: each.__name__)


def column(*values):
    return np.array(values, dtype=float)[:, None]


def check(backend, name, f, x, expected):
    assert backend(parse(name, f=f), x) == pytest.approx(np.atleast_1d(expected), rel=1e-6, abs=1e-12)


TIES = [
    # scores 10, 5, 5, 10
    ("krum", 1, (0, 1, 3, 4), 1),
    ("krum", 1, (4, 3, 1, 0), 3),
    ("krum", 1, (0, 3, 1, 4), 3),
    ("multikrum(m=1)", 1, (0, 1, 3, 4), 1),
    ("multikrum(m=1)", 1, (4, 3, 1, 0), 3),
    ("multikrum(m=2)", 1, (0, 4, 1, 3), 2),
    ("multikrum", 1, (0, 1, 3, 4), Fraction(4, 3)),
    ("multikrum", 1, (4, 3, 1, 0), Fraction(8, 3)),
    # the second neighbour of 0 is 1 or -1
    ("monna", 1, (0, 1, -1), Fraction(1, 2)),
    ("monna", 1, (0, -1, 1), Fraction(-1, 2)),
    ("monna(index=2)", 1, (1, -1, 0), Fraction(1, 2)),
    # of -1 and 1, equally far from the median, the smaller one stays, wherever it stands
    ("meamed", 1, (0, 1, -1), Fraction(-1, 2)),
    ("meamed", 1, (-1, 0, 1), Fraction(-1, 2)),
    ("meamed", 1, (3, 2, 1, 0), 1),
    ("meamed", 1, (40, 10, 20, 30, 0), 15),
    # {0, 1, 2} and {1, 2, 3} have the same diameter, and the same covariance
    ("mda", 1, (0, 1, 2, 3), 1),
    ("mda", 1, (3, 2, 1, 0), 2),
    # {0, 1, 5} before {9, 10, 5}: the index sets are {0, 2, 4} and {1, 3, 4}
    ("mda", 2, (0, 9, 1, 10, 5), 2),
    ("mda", 1, (0, 2, 1), Fraction(1, 2)),
    ("cwmed", 0, (7, 1, 4, 2), 3),
    ("cwmed", 0, (7, 1, 4), 4),
    ("cwmed", 0, (5, 3), 4),
    ("cwtm", 1, (7, 1, 4, 2), 3),
]


@every_backend
@pytest.mark.parametrize(("name", "f", "values", "expected"), TIES)
def test_ties_and_even_n(backend, name, f, values, expected):
    check(backend, name, f, column(*values), float(expected))


@float_backends
@pytest.mark.parametrize(("values", "expected"), [((0, 1, 2, 3), 1), ((3, 2, 1, 0), 2), ((0, 1, 3, 4, 9), 2)])
def test_smea_takes_the_first_of_tied_subsets(backend, values, expected):
    check(backend, "smea", 1, column(*values), expected)


@float_backends
def test_smea_tie_between_directions(backend):
    # the four corners of a square: every subset of three has the same spectrum
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    check(backend, "smea", 1, square, [4 / 3, 2 / 3])


@every_backend
@pytest.mark.parametrize(("values", "expected"), [((0, 1, -1), (0.5, 0.5, -0.5)), ((0, -1, 1), (-0.5, -0.5, 0.5))])
def test_nnm_ties(backend, values, expected):
    step = parse("nnm+average", f=1).steps[0]
    wide = np.repeat(column(*values), 2, axis=1)
    result = {
        on_fractions: lambda: step(exactly(wide)).astype(float),
        on_torch: lambda: step(torch.tensor(wide)).numpy(),
        on_torch_with_gradient: lambda: step(torch.tensor(wide, requires_grad=True)).detach().numpy(),
        on_large: lambda: step(np.repeat(wide, REPEATS, axis=1)),
        on_large_single: lambda: step(np.repeat(wide, REPEATS, axis=1).astype(np.float32)),
        on_single: lambda: step(wide.astype(np.float32)),
        in_a_batch: lambda: step(np.stack([wide + 1, wide]))[1],
        on_numpy: lambda: step(wide),
    }[backend]()
    assert np.array_equal(result[:, 0], expected)


@every_backend
def test_the_vector_itself_counts_among_its_nearest(backend):
    values = [9, 11, 0, 1, 4, 7, 8]

    def winner(count):
        totals = [sum(sorted((a - b) ** 2 for b in values)[:count]) for a in values]
        return values[totals.index(min(totals))]

    # n = 7 and f = 2: a count that is off by one in either direction shows
    assert (winner(4), winner(5), winner(6)) == (9, 8, 7)
    check(backend, "krum", 2, column(*values), 8)


@every_backend
def test_nnm_and_monna_take_n_minus_f_vectors_with_the_own_one(backend):
    # powers of four: the mean tells which vectors went in
    values = [0, 4, 16, 64, 256]
    check(backend, "monna", 2, column(*values), 20 / 3)
    check(backend, "monna", 1, column(*values), 84 / 4)
    check(backend, "nnm+average", 2, column(*values), np.mean([20, 20, 20, 84, 336]) / 3)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_multikrum_averages_the_m_best(m):
    x = np.random.default_rng(m).standard_normal((7, 3))
    rows = exactly(x).tolist()
    best = sorted(range(7), key=lambda j: (naive.krum_score(rows, j, 2), j))[:m]
    assert parse("multikrum", f=2, m=m)(x) == pytest.approx(x[best].mean(axis=0), abs=1e-12)


def test_multikrum_with_one_vector_is_krum_and_default_m_is_n_minus_f():
    x = np.random.default_rng(0).standard_normal((9, 4))
    assert np.array_equal(parse("multikrum(m=1)", f=3)(x), parse("krum", f=3)(x))
    assert np.array_equal(parse("multikrum", f=3)(x), parse("multikrum(m=6)", f=3)(x))


@pytest.mark.parametrize("n", range(1, 41))
def test_bucket_sizes(n):
    for f in range(n // 2 + 1):
        size = Bucketing(f=f).size(n)
        assert size == (int(Fraction(n, 2 * f)) if f else n)
        identity = np.eye(n)
        buckets = Bucketing(f=f, permutation=tuple(range(n)))(identity)
        members = [list(range(start, min(start + size, n))) for start in range(0, n, size)]
        assert np.array_equal(buckets, [identity[group].mean(axis=0) for group in members])


def test_the_last_short_bucket_is_averaged_over_its_own_size():
    x = column(1, 2, 3, 4, 100)
    order = (3, 0, 4, 1, 2)
    step = Bucketing(f=1, permutation=order)
    assert step(x).ravel().tolist() == [2.5, 51, 3]
    assert step(exactly(x)).ravel().tolist() == [Fraction(5, 2), 51, 3]
    assert Bucketing(f=1, s=3, permutation=order)(x).ravel() == pytest.approx([35, 2.5])


def test_bucket_size_is_at_most_n():
    assert Bucketing(f=0, s=100)(column(1, 2, 6)).tolist() == [[3]]


def test_bucketing_is_random_through_its_seed_alone():
    x = np.random.default_rng(0).standard_normal((12, 3))
    step = Bucketing(f=2)
    np.random.seed(1)
    torch.manual_seed(1)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()
    first = step(x)
    np.testing.assert_array_equal(np.random.get_state()[1], before[0])
    assert torch.equal(torch.get_rng_state(), before[1])
    np.random.seed(2)
    torch.manual_seed(2)
    assert np.array_equal(step(x), first)
    assert np.array_equal(Bucketing(f=2, seed=0)(x), first)
    assert np.array_equal(step(torch.tensor(x)).numpy(), first)
    # linear in x: the permutation does not depend on the values
    mixing = step(np.eye(12))
    assert np.allclose(mixing @ x, first, atol=1e-14)
    outcomes = {Bucketing(f=2, seed=seed)(np.eye(12)).tobytes() for seed in range(20)}
    assert len(outcomes) > 15


def test_a_permutation_overrides_the_seed():
    x = np.random.default_rng(0).standard_normal((6, 2))
    step = Bucketing(f=1, permutation=(5, 4, 3, 2, 1, 0))
    assert np.array_equal(step(x), replace(step, seed=7)(x))
    assert np.allclose(step(x), [x[[5, 4, 3]].mean(axis=0), x[[2, 1, 0]].mean(axis=0)], atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("d", "dtype"), [(3, np.float64), (500, np.float64), (500, np.float32)])
def test_bucketing_to_nine_makes_the_median_a_trimmed_mean(seed, d, dtype):
    """At n = 17 and f = 4 there are 9 buckets, of which CWTM keeps the middle one, as CWMed does."""
    x = np.random.default_rng(seed).standard_normal((17, d)).astype(dtype)
    rules = [parse(f"bucketing(seed={seed})+{name}", f=4) for name in ("cwmed", "cwtm")]
    assert len(rules[0].steps[0](x)) == 9
    assert np.array_equal(rules[0](x), rules[1](x))
    tensor = torch.tensor(x, requires_grad=True)
    assert torch.equal(rules[0](tensor), rules[1](tensor))
    if d == 3:
        assert rules[0](exactly(x)).tolist() == rules[1](exactly(x)).tolist()
