"""Trimmed means with a mistake."""

from __future__ import annotations

import numpy as np

from .tools import claim_of_cwtm, collect, trimmed


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


BROKEN = collect(
    (trims_one_fewer, 7, 2, claim_of_cwtm),
    (trims_only_the_largest, 7, 2, claim_of_cwtm),
    (trims_only_the_smallest, 9, 2, claim_of_cwtm),
    (trims_one_more_above, 9, 2, claim_of_cwtm),
    (trims_off_by_one, 9, 2, claim_of_cwtm),
    (trims_right_for_even_n_only, 11, 3, claim_of_cwtm),
    (trims_wrong_at_one_n, 9, 2, claim_of_cwtm),
    (trims_by_the_first_coordinate, 7, 2, claim_of_cwtm),
    (trims_by_norm, 7, 2, claim_of_cwtm),
    (trims_and_divides_by_the_wrong_number, 7, 2, claim_of_cwtm),
    (sums_everything_and_subtracts_the_extremes, 7, 2, claim_of_cwtm),
    (winsorises, 9, 2, claim_of_cwtm),
    (trims_distinct_values, 9, 2, claim_of_cwtm),
    (trims_without_the_zeros, 9, 2, claim_of_cwtm),
)
