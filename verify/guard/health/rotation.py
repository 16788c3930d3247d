"""F(x Q) = F(x) Q for orthogonal Q, where that is claimed: coordinate-wise rules are not rotation equivariant."""

from __future__ import annotations

import numpy as np

from kappaguard.verify.guard.finding import Check, HealthFinding
from kappaguard.verify.guard.health.inputs import differs, gap, plain
from kappaguard.verify.judge.subject import Subject

DIMENSION = 3
INPUTS = 4
"""Rounding may break a tie: only what differs on each input counts."""


def _look(subject: Subject) -> HealthFinding | None:
    if not subject.traits.rotates:
        return None
    shown = [_differing(subject, seed) for seed in range(1 if subject.brief else INPUTS)]
    return shown[0] if all(shown) else None


def _differing(subject: Subject, seed: int) -> HealthFinding | None:
    x = plain(subject.n, DIMENSION, seed)
    turn = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((DIMENSION, DIMENSION)))[0]
    turned, here = subject(x @ turn), subject(x) @ turn
    if differs(turned, here, x, subject):
        return CHECK.warn(f"F(x Q) differs from F(x) Q by {gap(turned, here):.3g}", x)
    return None


CHECK = Check("rotation", "Is F(x Q) = F(x) Q for orthogonal Q, where that is claimed?", _look)
