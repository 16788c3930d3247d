"""Rules with a mistake in them, as people make them: plain NumPy, one matrix (n, d) at a time, f as an argument.

Each stands in ``BROKEN`` with an (n, f) and the claim that the rule it meant to be satisfies. None of these is a
straw man only: most are one character away from a correct rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

Rule = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Broken:
    """A broken rule with the claim that it does not satisfy."""

    rule: Rule
    n: int
    f: int
    claim: Fraction


def squared(x: np.ndarray) -> np.ndarray:
    return np.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=2)


def nearest(x: np.ndarray, count: int) -> np.ndarray:
    return np.argsort(squared(x), axis=1, kind="stable")[:, :count]


def scores(distances: np.ndarray, count: int) -> np.ndarray:
    return np.sum(np.sort(distances, axis=1)[:, :count], axis=1)


def trimmed(x: np.ndarray, low: int, high: int) -> np.ndarray:
    return np.sort(x, axis=0)[low : len(x) - high].mean(axis=0)


# trimmed means


def trims_one_fewer(x, f):
    return trimmed(x, f - 1, f - 1)


def trims_only_the_largest(x, f):
    return trimmed(x, 0, f)


def trims_only_the_smallest(x, f):
    return trimmed(x, f, 0)


def trims_one_more_above(x, f):
    return trimmed(x, f, f + 1)


def trims_off_by_one(x, f):
    return trimmed(x, f - 1, f + 1)


def trims_right_for_even_n_only(x, f):
    return trimmed(x, f, f) if len(x) % 2 == 0 else trimmed(x, f - 1, f)


def trims_wrong_at_one_n(x, f):
    return trimmed(x, f - 1, f - 1) if len(x) == 9 else trimmed(x, f, f)


def trims_by_the_first_coordinate(x, f):
    return x[np.argsort(x[:, 0], kind="stable")][f : len(x) - f].mean(axis=0)


def trims_by_norm(x, f):
    return x[np.argsort(np.linalg.norm(x, axis=1), kind="stable")][: len(x) - f].mean(axis=0)


def trims_and_divides_by_the_wrong_number(x, f):
    return np.sort(x, axis=0)[f : len(x) - f].sum(axis=0) / (len(x) - f)


def sums_everything_and_subtracts_the_extremes(x, f):
    ordered = np.sort(x, axis=0)
    total = x.sum(axis=0) - ordered[:f].sum(axis=0) - ordered[len(x) - f :].sum(axis=0)
    return total / (len(x) - 2 * f)


def winsorises(x, f):
    ordered = np.sort(x, axis=0)
    return np.clip(x, ordered[f], ordered[len(x) - f - 1]).mean(axis=0)


def trims_distinct_values(x, f):
    columns = [np.unique(column) for column in x.T]
    return np.array([each[f : len(each) - f].mean() if len(each) > 2 * f else each.mean() for each in columns])


def trims_without_the_zeros(x, f):
    result = []
    for column in x.T:
        present = np.sort(column[column != 0])
        kept = present[f : len(present) - f]
        result.append(kept.mean() if len(kept) else 0.0)
    return np.array(result)


# medians


def median_off_by_one(x, f):
    return np.sort(x, axis=0)[len(x) // 2 + 1]


def median_two_off(x, f):
    return np.sort(x, axis=0)[len(x) // 2 - 2]


def lower_quantile(x, f):
    return np.sort(x, axis=0)[f]


def median_without_the_last_worker(x, f):
    return np.median(x[:-1], axis=0)


def median_of_half_precision(x, f):
    return np.median(x.astype(np.float16), axis=0).astype(np.float64)


def median_rounded_to_whole_numbers(x, f):
    return np.round(np.median(x, axis=0))


def median_unless_large(x, f):
    return np.median(x, axis=0) if np.max(np.abs(x)) < 1e3 else x.mean(axis=0)


def median_unless_two_are_equal(x, f):
    unique = np.unique(x, axis=0)
    return np.median(unique, axis=0)


def median_plus_a_trifle_of_the_mean(x, f):
    return 0.999 * np.median(x, axis=0) + 0.001 * x.mean(axis=0)


def median_of_two_f_buckets(x, f):
    return np.median(np.stack([x[k :: 2 * f].mean(axis=0) for k in range(2 * f)]), axis=0)


def median_of_the_first_coordinate_for_all(x, f):
    return np.full(x.shape[1], np.median(x[:, 0]))


def median_in_one_dimension_mean_in_more(x, f):
    return np.median(x, axis=0) if x.shape[1] < 3 else x.mean(axis=0)


# Krum


def krum_with_one_neighbour(x, f):
    return x[np.argmin(scores(squared(x), 2))]


def krum_with_f_neighbours(x, f):
    return x[np.argmin(scores(squared(x), f))]


def krum_with_fewer_neighbours(x, f):
    return x[np.argmin(scores(squared(x), len(x) - f - 2))]


def krum_with_one_neighbour_too_many(x, f):
    return x[np.argmin(scores(squared(x), len(x) - f + 1))]


def krum_of_fourth_powers(x, f):
    return x[np.argmin(scores(squared(x) ** 2, len(x) - f))]


def krum_that_maximises(x, f):
    return x[np.argmax(scores(squared(x), len(x) - f))]


def krum_with_all_neighbours(x, f):
    return x[np.argmin(squared(x).sum(axis=1))]


def krum_in_single_precision(x, f):
    small = x.astype(np.float32)
    gram = small @ small.T
    norms = np.diag(gram)
    return x[np.argmin(scores(norms[:, None] + norms[None, :] - 2 * gram, len(x) - f))]


def krum_of_rounded_distances(x, f):
    return x[np.argmin(scores(np.round(squared(x), 1), len(x) - f))]


def krum_that_skips_worker_zero(x, f):
    values = scores(squared(x), len(x) - f)
    values[0] = 0.0 if values[0] < 2 * np.min(values[1:]) else values[0]
    return x[np.argmin(values)]


def multikrum_of_one_more(x, f):
    order = np.argsort(scores(squared(x), len(x) - f), kind="stable")
    return x[order[: len(x) - f + 1]].mean(axis=0)


def multikrum_of_the_worst(x, f):
    order = np.argsort(-scores(squared(x), len(x) - f), kind="stable")
    return x[order[: len(x) - f]].mean(axis=0)


def krum_and_mean(x, f):
    return 0.9 * x[np.argmin(scores(squared(x), len(x) - f))] + 0.1 * x.mean(axis=0)


# nearest neighbour mixing, in front of the trimmed mean


def nnm_without_itself(x, f):
    order = np.argsort(squared(x) + np.diag(np.full(len(x), np.inf)), axis=1, kind="stable")
    return trimmed(x[order[:, : len(x) - f]].mean(axis=1), f, f)


def nnm_of_few(x, f):
    return trimmed(x[nearest(x, f + 1)].mean(axis=1), f, f)


def nnm_of_one_fewer(x, f):
    return trimmed(x[nearest(x, len(x) - f - 1)].mean(axis=1), f, f)


def nnm_of_all(x, f):
    return trimmed(x[nearest(x, len(x))].mean(axis=1), f, f)


def nnm_of_one_more(x, f):
    return trimmed(x[nearest(x, len(x) - f + 1)].mean(axis=1), f, f)


def nnm_then_mean(x, f):
    return x[nearest(x, len(x) - f)].mean(axis=1).mean(axis=0)


# geometric medians


def _weiszfeld(x, start, steps, smoothing):
    y = start
    for _ in range(steps):
        weights = 1 / np.sqrt(np.sum((x - y) ** 2, axis=1) + smoothing**2)
        y = weights @ x / weights.sum()
    return y


def gm_three_steps_from_zero(x, f):
    return _weiszfeld(x, np.zeros(x.shape[1]), 3, 1e-12)


def gm_with_an_absolute_constant(x, f):
    return _weiszfeld(x, np.median(x, axis=0), 200, 0.1)


def gm_from_the_mean_in_few_steps(x, f):
    return _weiszfeld(x, x.mean(axis=0), 4, 1e-12)


def medoid(x, f):
    return x[np.argmin(np.sqrt(squared(x)).sum(axis=1))]


# others


def near_worker_zero(x, f):
    order = np.argsort(np.sum((x - x[0]) ** 2, axis=1), kind="stable")
    return x[order[: len(x) - f]].mean(axis=0)


def near_the_last_worker(x, f):
    order = np.argsort(np.sum((x - x[-1]) ** 2, axis=1), kind="stable")
    return x[order[: len(x) - f]].mean(axis=0)


def near_the_mean(x, f):
    order = np.argsort(np.abs(x - x.mean(axis=0)), axis=0, kind="stable")
    return np.take_along_axis(x, order[: len(x) - f], axis=0).mean(axis=0)


def near_the_median_one_too_many(x, f):
    order = np.argsort(np.abs(x - np.median(x, axis=0)), axis=0, kind="stable")
    return np.take_along_axis(x, order[: len(x) - f + 1], axis=0).mean(axis=0)


def clipped_around_zero(x, f):
    norms = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return (x * np.minimum(1, 1 / norms)).mean(axis=0)


def two_sigma(x, f):
    centre, spread = x.mean(axis=0), x.std(axis=0)
    kept = np.abs(x - centre) <= 2 * spread
    return np.sum(x * kept, axis=0) / np.sum(kept, axis=0)


def _cwtm(n: int, f: int) -> Fraction:
    return Fraction(f, n - 2 * f)


def _cwmed(n: int, f: int) -> Fraction:
    k = n // 2 + 1 - f
    return Fraction(n - f - k, k)


def _krum(n: int, f: int) -> Fraction:
    return 6 * (1 + Fraction(f, n - 2 * f))


def _exact_krum(n: int, f: int) -> Fraction:
    """Krum's kappa* for n <= 3f."""
    return Fraction(n * n, f * (n - 2 * f))


def _gm(n: int, f: int) -> Fraction:
    return Fraction(n // 2, -(-n // 2) - f)


def _nnm(n: int, f: int) -> Fraction:
    return Fraction(4 * f, n - 2 * f)


def _paper_gm(n: int, f: int) -> Fraction:
    return 4 * (1 + Fraction(f, n - 2 * f)) ** 2


_LISTED: list[tuple[Rule, int, int, Callable[[int, int], Fraction]]] = [
    (trims_one_fewer, 7, 2, _cwtm),
    (trims_only_the_largest, 7, 2, _cwtm),
    (trims_only_the_smallest, 9, 2, _cwtm),
    (trims_one_more_above, 9, 2, _cwtm),
    (trims_off_by_one, 9, 2, _cwtm),
    (trims_right_for_even_n_only, 11, 3, _cwtm),
    (trims_wrong_at_one_n, 9, 2, _cwtm),
    (trims_by_the_first_coordinate, 7, 2, _cwtm),
    (trims_by_norm, 7, 2, _cwtm),
    (trims_and_divides_by_the_wrong_number, 7, 2, _cwtm),
    (sums_everything_and_subtracts_the_extremes, 7, 2, _cwtm),
    (winsorises, 9, 2, _cwtm),
    (trims_distinct_values, 9, 2, _cwtm),
    (trims_without_the_zeros, 9, 2, _cwtm),
    (median_off_by_one, 9, 3, _cwmed),
    (median_two_off, 11, 2, _cwmed),
    (lower_quantile, 11, 2, _cwmed),
    (median_without_the_last_worker, 7, 3, _cwmed),
    (median_of_half_precision, 7, 2, _cwmed),
    (median_rounded_to_whole_numbers, 7, 2, _cwmed),
    (median_unless_large, 7, 2, _cwmed),
    (median_unless_two_are_equal, 9, 3, _cwmed),
    (median_plus_a_trifle_of_the_mean, 7, 2, _cwmed),
    (median_of_two_f_buckets, 9, 3, _cwmed),
    (median_of_the_first_coordinate_for_all, 7, 2, _cwmed),
    (median_in_one_dimension_mean_in_more, 7, 2, _cwmed),
    (krum_with_one_neighbour, 9, 2, _krum),
    (krum_with_f_neighbours, 9, 3, _krum),
    (krum_with_fewer_neighbours, 7, 3, _krum),
    (krum_with_one_neighbour_too_many, 9, 4, _exact_krum),
    (krum_of_fourth_powers, 17, 4, lambda n, f: Fraction(3696, 1000)),
    (krum_that_maximises, 7, 2, _krum),
    (krum_with_all_neighbours, 9, 3, _krum),
    (krum_in_single_precision, 9, 2, _krum),
    (krum_of_rounded_distances, 9, 2, _krum),
    (krum_that_skips_worker_zero, 9, 2, lambda n, f: Fraction(5)),
    (multikrum_of_one_more, 9, 2, _krum),
    (multikrum_of_the_worst, 9, 2, _krum),
    (krum_and_mean, 9, 2, _krum),
    (nnm_without_itself, 9, 3, _nnm),
    (nnm_of_few, 17, 1, _nnm),
    (nnm_of_one_fewer, 17, 1, _nnm),
    (nnm_of_all, 9, 3, _nnm),
    (nnm_of_one_more, 9, 2, _nnm),
    (nnm_then_mean, 9, 2, _nnm),
    (gm_three_steps_from_zero, 7, 2, _paper_gm),
    (gm_with_an_absolute_constant, 7, 2, _paper_gm),
    (gm_from_the_mean_in_few_steps, 7, 2, _paper_gm),
    (medoid, 9, 3, _gm),
    (near_worker_zero, 7, 2, _krum),
    (near_the_last_worker, 7, 2, _krum),
    (near_the_mean, 7, 2, _krum),
    (near_the_median_one_too_many, 7, 2, _krum),
    (clipped_around_zero, 7, 2, _krum),
    (two_sigma, 9, 2, _krum),
]

BROKEN = {rule.__name__: Broken(rule, n, f, claim(n, f)) for rule, n, f, claim in _LISTED}
