"""Rules with one fault each, and rules without: what the health checks are tried on."""

from __future__ import annotations

import itertools
import time

import numpy as np


def trimmed(x, f):
    """The trimmed mean: nothing is wrong with it."""
    return np.sort(x, axis=0)[f : len(x) - f].mean(axis=0)


def nearest_mean(x, f):
    """Krum's choice, from distances of differences."""
    if np.isnan(x).any():
        raise ValueError("NaN")
    distances = np.sort(((x[:, None] - x[None]) ** 2).sum(axis=-1), axis=1)
    return x[np.argmin(distances[:, : len(x) - f].sum(axis=1))]


def by_norms(x, f):
    """Krum's choice, from squared norms and inner products: these cancel far from the origin."""
    squares = (x**2).sum(axis=1)
    distances = np.sort(squares[:, None] + squares[None] - 2 * x @ x.T, axis=1)
    return x[np.argmin(distances[:, : len(x) - f].sum(axis=1))]


def mean(x, f):
    return x.mean(axis=0)


def mean_of_all_but_one(x, f):
    return np.sort(x, axis=0)[1:-1].mean(axis=0)


def first(x, f):
    return x[0]


def toward_origin(x, f):
    return trimmed(x, f) * 0.999


def clipped(x, f):
    middle = trimmed(x, f)
    return np.clip(middle, -100.0, 100.0)


def with_offset(x, f):
    return trimmed(x, f) + 0.001 * np.std(trimmed(x, f) - x, axis=0).max() * np.sign(x[0])


def coordinate_two_only(x, f):
    """Fine in one dimension and wrong beyond."""
    result = trimmed(x, f)
    result[1:] = x[:, 1:].mean(axis=0)
    return result


def normalised(x, f):
    """The trimmed mean, off by a share of the dimension."""
    return trimmed(x, f) + (x.max(axis=0) - x.min(axis=0)) * (x.shape[1] - 1) / 100


def random_trim(x, f):
    rows = np.random.permutation(len(x))[:-1]
    return trimmed(x[rows], f) if len(rows) > 2 * f else trimmed(x, f)


def fresh_randomness(x, f):
    rows = np.random.default_rng().permutation(len(x))[:-1]
    return trimmed(x[rows], f) if len(rows) > 2 * f else trimmed(x, f)


def in_place(x, f):
    x.sort(axis=0)
    return x[f : len(x) - f].mean(axis=0)


class Remembering:
    """Averages with the last result."""

    def __init__(self, f):
        self.f, self.last = f, None

    def __call__(self, x):
        now = trimmed(x, self.f)
        result = now if self.last is None else (now + self.last) / 2
        self.last = now
        return result


def in_single(x, f):
    return trimmed(x.astype(np.float32), f)


def as_list(x, f):
    return trimmed(x, f).tolist()


def as_tuple(x, f):
    return tuple(trimmed(x, f))


def truncated(x, f):
    return trimmed(x, f).astype(int)


def texts(x, f):
    return ["a"] * x.shape[1]


def as_complex(x, f):
    return trimmed(x, f) + 0j


def none_at_equal(x, f):
    return None if np.ptp(x[f:]) == 0 else trimmed(x, f)


def nan_at_equal(x, f):
    spread = np.ptp(np.sort(x, axis=0)[f : len(x) - f], axis=0)
    return trimmed(x, f) * (spread / spread)


def raises_at_equal(x, f):
    if np.ptp(x[f:]) == 0:
        raise ZeroDivisionError("no\nspread [bold]")
    return trimmed(x, f)


def sums(x, f):
    """The trimmed mean as the sum of all minus the sums of both ends: huge entries drown the rest."""
    ordered = np.sort(x, axis=0)
    total = x.sum(axis=0) - ordered[:f].sum(axis=0) - ordered[len(x) - f :].sum(axis=0)
    return total / (len(x) - 2 * f)


def nan_is_contagious(x, f):
    """The trimmed mean, but NaN anywhere is NaN everywhere."""
    return trimmed(x, f) + 0 * x.sum(axis=0)


def wants_many(x, f):
    """Fine from n = 2f + 2 on; at n = 2f + 1 it returns the last vector."""
    return trimmed(x, f) if len(x) > 2 * f + 1 else x[-1]


def refuses_few(x, f):
    """Fine from n = 2f + 3 on, and refuses below."""
    if len(x) < 2 * f + 3:
        raise ValueError("n >= 2f + 3 is needed")
    return trimmed(x, f)


def overflows(x, f):
    """In float32, with squares: numbers beyond 1e19 leave its range."""
    single = x.astype(np.float32)
    return trimmed(single, f) + 0 * (single**2).sum(axis=0)


def raises_at_random(x, f):
    if np.random.default_rng().random() < 0.5:
        raise ValueError("bad luck")
    return trimmed(x, f)


def raises_for_some_seeds(x, f):
    if np.random.random() < 0.5:
        raise ValueError("bad luck")
    return trimmed(x, f)


def with_weights(x, f):
    return trimmed(x, f), np.ones(len(x))


def as_row(x, f):
    return trimmed(x, f)[None]


def of_columns(x, f):
    return np.median(x, axis=1)


def squeezed(x, f):
    return np.squeeze(trimmed(x, f))


def constant_is_contagious(x, f):
    """Wrong if a coordinate is the same for everybody and not zero, beside others that are not."""
    same = np.ptp(x, axis=0) == 0
    return x.mean(axis=0) if np.any(same & (x[0] == 3)) and not np.all(same) else trimmed(x, f)


def constant_in_front_is_contagious(x, f):
    """The same, if it is the first coordinate."""
    return x.mean(axis=0) if x.shape[1] > 1 and x[0, 0] != 0 and np.ptp(x[:, 0]) == 0 else trimmed(x, f)


CALLS = itertools.count()


def seldom_averages(x, f):
    """In one of 50 calls the mean: what a rule may do that draws, without chance in the test."""
    return x.mean(axis=0) if next(CALLS) % 50 == 49 else trimmed(x, f)


def tiny_is_averaged(x, f):
    return x.mean(axis=0) if 0 < np.abs(x).max() < 1e-12 else trimmed(x, f)


def huge_is_averaged(x, f):
    return x.mean(axis=0) if np.abs(x).max() > 1e25 else trimmed(x, f)


def wide_is_averaged(x, f):
    return x.mean(axis=0) if x.shape[1] >= 5000 else trimmed(x, f)


def single_inside(x, f):
    return trimmed(x.astype(np.float32), f).astype(np.float64)


def in_half(x, f):
    return trimmed(x.astype(np.float16), f)


def masked(x, f):
    return np.ma.masked_array(trimmed(x, f), mask=np.arange(x.shape[1]) == 0)


SEEN: list[int] = []


def decomposes(x, f):
    """Works with a d x d matrix, as if that took long."""
    SEEN.append(x.shape[1])
    time.sleep(1e-9 * x.shape[1] ** 3)
    return trimmed(x, f)
