"""The Chebyshev centre: in all balls, where no step makes the maximum smaller; its symmetries, and its kappa*."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import kappaguard as kg
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.names import parse
from kappaguard.verify.judge.result import Status

pytestmark = pytest.mark.solver

SIZES = [(3, 1, 1), (5, 1, 3), (5, 2, 2), (7, 3, 4), (9, 2, 6), (11, 4, 3)]


def cloud(n, f, d, seed=0):
    """Two groups, one of them far in every second case."""
    random = np.random.default_rng([seed, n, f, d])
    x = random.standard_normal((n, d))
    x[: f + 1] *= random.choice([1.0, 30.0])
    x[:f] += random.choice([0.0, 5.0])
    return x


def balls(x, f):
    """All means and squared radii, from the definition."""
    n, kappa = len(x), f / (len(x) - 2 * f)
    sets = [list(chosen) for chosen in combinations(range(n), n - f)]
    means = np.array([x[chosen].mean(axis=0) for chosen in sets])
    radii = np.array([kappa * ((x[chosen] - x[chosen].mean(axis=0)) ** 2).sum(axis=1).mean() for chosen in sets])
    return means, radii


def excess(z, means, radii):
    return float((((z - means) ** 2).sum(axis=1) - radii).max())


@pytest.mark.parametrize(("n", "f", "d"), SIZES)
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_point_of_the_definition(n, f, d, seed):
    """In all balls; and no small step in any direction makes the maximum, which is convex, smaller."""
    x = cloud(n, f, d, seed)
    z, (means, radii) = parse("chebyshev", f=f)(x), balls(x, f)
    size = float((x**2).sum())
    least = excess(z, means, radii)
    assert least <= 1e-9 * size
    random = np.random.default_rng(seed)
    for step in (1e-3, 1e-2, 0.1, 1.0):
        for direction in random.standard_normal((30, d)):
            assert excess(z + step * direction, means, radii) >= least - 1e-11 * size


@pytest.mark.parametrize(("n", "f", "d"), SIZES)
def test_its_symmetries(n, f, d):
    x = cloud(n, f, d)
    rule = parse("chebyshev", f=f)
    z, random = rule(x), np.random.default_rng(1)
    turn = np.linalg.qr(random.standard_normal((d, d)))[0]
    near = 1e-7 * np.abs(x).max()
    assert np.allclose(rule(x @ turn), z @ turn, atol=near, rtol=0)
    assert np.allclose(rule(random.permutation(x)), z, atol=near, rtol=0)
    assert np.allclose(rule(x + 1e4), z + 1e4, atol=1e-6 * np.abs(x).max() + 1e-7, rtol=0)
    for scale in (1e-60, 1e-6, 1e6, 1e60):
        assert np.allclose(rule(x * scale) / scale, z, atol=near, rtol=0)
    batch = np.stack([x, 2 * x, x[::-1]])
    assert np.allclose(rule(batch), [rule(each) for each in batch], atol=near, rtol=0)


@pytest.mark.parametrize(("n", "f"), [(3, 1), (5, 2), (9, 2), (17, 4)])
def test_equal_honest_vectors_come_back(n, f):
    random = np.random.default_rng(0)
    x = np.repeat(random.standard_normal((1, 4)), n, axis=0)
    x[:f] += 100 * random.standard_normal((f, 4))
    assert np.allclose(parse("chebyshev", f=f)(x), x[-1], atol=1e-9, rtol=0)


@pytest.mark.parametrize("far", [1e100, 1e300, np.inf])
def test_vectors_beyond_the_range_of_squares_are_left_out(far):
    x = cloud(9, 2, 3)
    x[:2] = far
    assert np.all(np.isfinite(parse("chebyshev", f=2)(x)))
    assert np.abs(parse("chebyshev", f=2)(x)).max() < 100


@pytest.mark.parametrize(("n", "f"), [(3, 1), (5, 1), (5, 2), (9, 2), (9, 4)])
def test_its_kappa_is_the_least_of_all_rules(n, f):
    result = kg.exact("chebyshev", n, f)
    assert result.upper == Fraction(f, n - 2 * f)
    assert result.status is Status.EXACT
    found = kg.search("chebyshev", n, f, evaluations=150, seed=1)
    assert found.lower <= result.upper * (1 + Fraction(1, 10**6))


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    x = cloud(7, 2, 3)
    rule = parse("chebyshev", f=2)
    assert np.allclose(rule(torch.from_numpy(x)).numpy(), rule(x))
    assert rule(torch.from_numpy(x).float()).dtype == torch.float32


def test_what_it_refuses():
    with pytest.raises(InputError, match="sets of 20 out of 39"):
        parse("chebyshev", f=19)(np.zeros((39, 2)))
    with pytest.raises(InputError):
        parse("chebyshev", f=2)(np.zeros((4, 2)))
    with pytest.raises(InputError):
        parse("chebyshev", f=1)(np.array([[Fraction(1)], [Fraction(2)], [Fraction(3)]], dtype=object))
