"""Geometric medians with a mistake."""

from __future__ import annotations

import numpy as np

from .tools import claim_of_gm, claim_of_paper_gm, collect, squared


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


BROKEN = collect(
    (gm_three_steps_from_zero, 7, 2, claim_of_paper_gm),
    (gm_with_an_absolute_constant, 7, 2, claim_of_paper_gm),
    (gm_from_the_mean_in_few_steps, 7, 2, claim_of_paper_gm),
    (medoid, 9, 3, claim_of_gm),
)
