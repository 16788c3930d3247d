"""Nearest neighbour mixing with a mistake, in front of the trimmed mean."""

from __future__ import annotations

import numpy as np

from .tools import claim_of_nnm, collect, nearest, squared, trimmed


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


BROKEN = collect(
    (nnm_without_itself, 9, 3, claim_of_nnm),
    (nnm_of_few, 17, 1, claim_of_nnm),
    (nnm_of_one_fewer, 17, 1, claim_of_nnm),
    (nnm_of_all, 9, 3, claim_of_nnm),
    (nnm_of_one_more, 9, 2, claim_of_nnm),
    (nnm_then_mean, 9, 2, claim_of_nnm),
)
