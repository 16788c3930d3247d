"""Krum and MultiKrum with a mistake."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .tools import claim_of_exact_krum, claim_of_krum, collect, scores, squared


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


BROKEN = collect(
    (krum_with_one_neighbour, 9, 2, claim_of_krum),
    (krum_with_f_neighbours, 9, 3, claim_of_krum),
    (krum_with_fewer_neighbours, 7, 3, claim_of_krum),
    (krum_with_one_neighbour_too_many, 9, 4, claim_of_exact_krum),
    (krum_of_fourth_powers, 17, 4, lambda n, f: Fraction(3696, 1000)),
    (krum_that_maximises, 7, 2, claim_of_krum),
    (krum_with_all_neighbours, 9, 3, claim_of_krum),
    (krum_in_single_precision, 9, 2, claim_of_krum),
    (krum_of_rounded_distances, 9, 2, claim_of_krum),
    (krum_that_skips_worker_zero, 9, 2, lambda n, f: Fraction(5)),
    (multikrum_of_one_more, 9, 2, claim_of_krum),
    (multikrum_of_the_worst, 9, 2, claim_of_krum),
    (krum_and_mean, 9, 2, claim_of_krum),
)
