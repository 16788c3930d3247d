"""Medians with a mistake."""

from __future__ import annotations

import numpy as np

from .tools import claim_of_cwmed, collect


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


BROKEN = collect(
    (median_off_by_one, 9, 3, claim_of_cwmed),
    (median_two_off, 11, 2, claim_of_cwmed),
    (lower_quantile, 11, 2, claim_of_cwmed),
    (median_without_the_last_worker, 7, 3, claim_of_cwmed),
    (median_of_half_precision, 7, 2, claim_of_cwmed),
    (median_rounded_to_whole_numbers, 7, 2, claim_of_cwmed),
    (median_unless_large, 7, 2, claim_of_cwmed),
    (median_unless_two_are_equal, 9, 3, claim_of_cwmed),
    (median_plus_a_trifle_of_the_mean, 7, 2, claim_of_cwmed),
    (median_of_two_f_buckets, 9, 3, claim_of_cwmed),
    (median_of_the_first_coordinate_for_all, 7, 2, claim_of_cwmed),
    (median_in_one_dimension_mean_in_more, 7, 2, claim_of_cwmed),
)
