"""What a rule does and costs when nobody attacks: its error on Gaussian vectors, and one call against the average's.

The error is the mean, over inputs of n independent standard normal vectors, of ||F(x) - mean||^2 over the variance
(1/n) sum_i ||x_i - mean||^2, mean over all n vectors: what robustness costs where it is not needed. The cost is the
smallest of several times of one call, divided by the smallest one of ``average`` on the same input, taken in turns; of
somebody else's code, with what it takes to call it safely.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from kappaguard.reports.dossier.plan import Plan
from kappaguard.rules.average import Average
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.judge.subject import Subject

INPUTS, D = 64, 100
LONG_D = 50_000
LEAST_TURNS, MOST_TURNS = 5, 40
ENOUGH, PATIENCE = 0.3, 3.0
"""Seconds after which no further turn is taken: where there were enough turns, and in any case."""


def compute(plan: Plan) -> dict[str, Any]:
    """Both numbers; ``d`` and ``long_d`` are the dimensions they are for."""
    subject = plan.subject()
    return {"error": _error(subject, plan.seed), "d": D, "cost": _cost(subject, plan.seed), "long_d": LONG_D}


def _error(subject: Subject, seed: int) -> float:
    generator = np.random.default_rng([seed, subject.n])
    total = 0.0
    for _ in range(INPUTS):
        x = generator.standard_normal((subject.n, D))
        mean = x.mean(axis=0)
        output = np.asarray(subject.raw(subject.private(x)), dtype=np.float64)
        total += float(((output - mean) ** 2).sum() * subject.n / ((x - mean) ** 2).sum())
    if not math.isfinite(total):
        raise InputError(f"{subject.name}: the output on Gaussian vectors is not finite")
    return total / INPUTS


def _cost(subject: Subject, seed: int) -> float:
    x = np.random.default_rng(seed).standard_normal((subject.n, LONG_D))
    average = Average()
    # the safe way takes longer than one average
    call = subject.rule if subject.is_builtin else subject.raw
    mine = theirs = math.inf
    begin = time.perf_counter()
    for turn in range(MOST_TURNS):
        handed = subject.private(x)
        start = time.perf_counter()
        call(handed)
        middle = time.perf_counter()
        average(x)
        end = time.perf_counter()
        mine, theirs = min(mine, middle - start), min(theirs, end - middle)
        if end - begin > PATIENCE or (turn >= LEAST_TURNS and end - begin > ENOUGH):
            break
    return mine / theirs
