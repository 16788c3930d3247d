"""A large common offset and a small spread, in float64 and in float32: distances from squared norms cancel there.

The input is a translation of a plain one by a power of two, exactly; f vectors are moved a little further, as an
adversary would. In float64 the result must be the translated one, in float32 the float64 result up to rounding.
"""

from __future__ import annotations

import numpy as np

from kappaguard.rules.foreign.convert import as_numpy
from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import CLEARLY, gap, honest_first, plain, width
from kappaguard.verify.judge.judgement import Floats
from kappaguard.verify.judge.rounding import DOUBLE
from kappaguard.verify.judge.subject import Subject

DIMENSION = 8
AWAY = 32.0
LARGE = 2.0**30
LARGE_SINGLE = 2.0**14
SINGLE_GRID = 2.0**-9
SINGLE = 2.0**-23
FEW = 64


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.translates:
        return None
    x = plain(subject.n, DIMENSION)
    x[subject.n - subject.f :] += AWAY
    large = LARGE if subject.epsilon == DOUBLE else LARGE_SINGLE * 2
    here, moved = subject(x), subject(x + large) - large
    rounding = FEW * subject.epsilon * large
    if gap(here, moved) > CLEARLY * width(x) + rounding:
        return CHECK.warn(
            f"with an offset of {large:g} the result differs by {gap(here, moved):.3g}",
            x + large,
            honest_first(subject),
        )
    return None if subject.brief else _single(subject, np.round(x / SINGLE_GRID) * SINGLE_GRID)


def _single(subject: Subject, x: Floats) -> HealthFinding | None:
    """float32 against float64 on an input that both hold exactly."""
    shifted = x + LARGE_SINGLE
    double = subject(shifted)
    handed = subject.private(shifted)
    try:
        returned = subject.raw(handed.astype(np.float32) if isinstance(handed, np.ndarray) else handed.float())
        single = np.asarray(as_numpy(returned), dtype=np.float64)
    except (Exception, SystemExit) as error:
        return CHECK.warn(f"float64 goes in, float32 does not: {type(error).__name__}", shifted)
    if single.shape != double.shape or not np.all(np.isfinite(single)):
        return CHECK.warn("float32 input of finite numbers gives no finite vector", shifted)
    if gap(single, double) > CLEARLY * width(x) + FEW * SINGLE * LARGE_SINGLE:
        return CHECK.warn(
            f"with an offset of {LARGE_SINGLE:g} float32 and float64 differ by {gap(single, double):.3g}", shifted
        )
    return None


CHECK = Check("offset", "Does a large common offset leave the result as it is, in float64 and float32?", _look)
