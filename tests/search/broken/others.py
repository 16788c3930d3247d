"""Rules that look plausible and are not robust."""

from __future__ import annotations

import numpy as np

from .tools import claim_of_krum, collect


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


BROKEN = collect(
    (near_worker_zero, 7, 2, claim_of_krum),
    (near_the_last_worker, 7, 2, claim_of_krum),
    (near_the_mean, 7, 2, claim_of_krum),
    (near_the_median_one_too_many, 7, 2, claim_of_krum),
    (clipped_around_zero, 7, 2, claim_of_krum),
    (two_sigma, 9, 2, claim_of_krum),
)
