"""Inputs for the health checks: plain ones without ties, and how far two outputs may differ."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.judge.judgement import Floats
from kappaguard.verify.judge.subject import Subject

GRID = 2.0**-16
CLEARLY = 1e-4
"""Outputs that differ by more than this, relative to the spread of the input, differ by more than an iteration may."""


def plain(n: int, d: int, seed: int = 0) -> Floats:
    """Normal numbers on a grid so coarse that shifts and scalings by powers of two are exact, and so fine that no
    distances tie by accident."""
    return np.round(np.random.default_rng(seed).standard_normal((n, d)) / GRID) * GRID


def honest_first(subject: Subject) -> tuple[int, ...]:
    """S when the last f vectors are the adversary's."""
    return tuple(range(subject.n - subject.f))


def width(x: Floats) -> float:
    """The largest spread of a coordinate."""
    return float(np.max(np.ptp(x, axis=0)))


def gap(a: Floats, b: Floats) -> float:
    """The largest difference of an entry."""
    return float(np.max(np.abs(a - b)))


def differs(a: Floats, b: Floats, x: Floats, subject: Subject) -> bool:
    """Whether two outputs that ought to be equal are not: beyond rounding of x and beyond an iteration's end."""
    rounding = 4 * float(subject.tolerance(x.shape[-1])) * float(np.max(np.abs(x)))
    return gap(a, b) > CLEARLY * width(x) + rounding
