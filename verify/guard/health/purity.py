"""A rule leaves its input as it was: the caller's gradients are not its scratch paper."""

from __future__ import annotations

import contextlib

import numpy as np

from kappaguard.rules.foreign.convert import as_numpy
from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import plain
from kappaguard.verify.judge.subject import Subject

SIZES = (1.0, 1000.0)


def _look(subject: Subject) -> HealthFinding | None:
    for size in SIZES[:1] if subject.brief else SIZES:
        x = plain(subject.n, 2) * size
        subject(x)
        handed = subject.private(x)
        with contextlib.suppress(Exception, SystemExit):
            # what it returns is another check's business
            subject.raw(handed)
        changed = np.any(np.asarray(as_numpy(handed)) != x, axis=1)
        if changed.any():
            return CHECK.warn(f"the call changed {int(changed.sum())} of the {subject.n} vectors that it was given", x)
    return None


CHECK = Check("purity", "Is the input left unchanged?", _look)
