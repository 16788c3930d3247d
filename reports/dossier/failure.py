"""Which failure an infinite kappa* is: of a rule that returns no vector, or is off with or without an adversary.

If the honest vectors are all equal, the definition allows no error. How far the output is off, and how far away the
Byzantine vectors are, tells a rule that follows them from one that shrinks towards the origin or stops short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kappaguard.rules.witness import Bound, Witness
from kappaguard.verify.judge.replay import NO_VECTOR

NEAR = 0.01
"""An error below this fraction of the distance of the Byzantine vectors does not follow them."""


def failure(bound: Bound, witness: Witness | None, output: Sequence[float] | None = None) -> str | None:
    """What an infinite bound is, in words; None if it is finite."""
    if witness is None or bound != math.inf:
        return None
    if witness.note.startswith(NO_VECTOR):
        return witness.note.removeprefix(NO_VECTOR)
    honest = witness.x[witness.subset[0]]
    away = [row for place, row in enumerate(witness.x) if place not in set(witness.subset)]
    if all(row == honest for row in away):
        return "all vectors are equal, and the output is another"
    if output is None:
        return "all honest vectors are equal, and the output is another"
    error = max(abs(value - float(entry)) for value, entry in zip(output, honest, strict=True))
    far = max(abs(float(value - entry)) for row in away for value, entry in zip(row, honest, strict=True))
    kind = "it follows the Byzantine vectors" if error > NEAR * far else "it is off by itself, or stops short"
    return (
        f"{kind}: all honest vectors are equal, and the output is off by {error:.3g} with others up to {far:.3g} away"
    )
