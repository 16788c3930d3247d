"""The cost of one call against n and against d, with measured exponents.

The smallest of several timings is taken, since everything else that a computer does only adds to it. The exponent is
the slope of log time over log size at the larger half of the sizes, where fixed costs matter least.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from kappaguard.reports.dossier.plan import Plan
from kappaguard.rules.base.errors import InputError
from kappaguard.verify.judge.subject import Subject, subject_of

SIZES_N = (8, 16, 32, 64, 128)
SIZES_D = (100, 1_000, 10_000, 100_000)
D_BESIDE_N = 1_000
PATIENCE = 2.0
"""Seconds after which no larger size is tried."""
REPEAT = 0.2


def compute(plan: Plan) -> dict[str, Any]:
    """Times over n at d = 1000 with f/n as planned, and over d at the planned (n, f)."""
    over_n = _times([(n, max(1, min(round(plan.f * n / plan.n), (n - 1) // 2)), D_BESIDE_N) for n in SIZES_N], plan)
    over_d = _times([(plan.n, plan.f, d) for d in SIZES_D], plan)
    return {
        "over_n": over_n,
        "over_d": over_d,
        "exponent_n": _exponent([(row["n"], row["seconds"]) for row in over_n]),
        "exponent_d": _exponent([(row["d"], row["seconds"]) for row in over_d]),
    }


def _times(sizes: list[tuple[int, int, int]], plan: Plan) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n, f, d in sizes:
        try:
            taken = _seconds(subject_of(plan.rule, n, f), d)
        except InputError:
            continue
        rows.append({"n": n, "f": f, "d": d, "seconds": taken})
        if taken > PATIENCE:
            break
    return rows


def _seconds(subject: Subject, d: int) -> float:
    x = np.random.default_rng(0).standard_normal((subject.n, d))
    best, begin = math.inf, time.perf_counter()
    while True:
        handed = subject.private(x)
        start = time.perf_counter()
        subject.raw(handed)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begin > REPEAT:
            return best


def _exponent(points: list[tuple[int, float]]) -> float | None:
    if len(points) < 3:
        return None
    late = points[-max(2, (len(points) + 1) // 2) :]
    (first, early), (last, end) = late[0], late[-1]
    return math.log(end / early) / math.log(last / first)
