"""One vector with NaN or infinity: it should be refused or outvoted. The definition says nothing about such input,
so this warns and never refutes."""

from __future__ import annotations

import numpy as np

from kappaguard.rules.foreign.convert import as_numpy
from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import plain
from kappaguard.verify.judge.subject import Subject


def _look(subject: Subject) -> HealthFinding | None:
    if subject.f == 0:
        return None
    for bad in (np.nan, np.inf, -np.inf):
        for place in (0,) if subject.brief else (0, subject.n - 1):
            x = plain(subject.n, 2)
            x[place, 0] = bad
            try:
                output = subject.raw(subject.private(x))
            except (Exception, SystemExit):
                # whatever it is, it is a refusal
                continue
            if output is None:
                return CHECK.warn(f"one vector with {bad} makes the result None", x)
            try:
                finite = np.all(np.isfinite(np.asarray(as_numpy(output))))
            except (TypeError, ValueError):
                return CHECK.warn(f"one vector with {bad} makes the result no vector of numbers", x)
            if not finite:
                return CHECK.warn(f"one vector with {bad} makes the result not finite", x)
    return None


CHECK = Check("non-finite", "Is a vector with NaN or infinity refused or outvoted?", _look)
