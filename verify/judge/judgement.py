"""What comes of showing a rule an input: a judgement, or no vector at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.witness import Bound, Witness

Floats = NDArray[np.float64]


class Failed(Exception):
    """The rule returned no finite vector for the finite input x."""

    def __init__(self, x: Floats, fault: str) -> None:
        super().__init__(fault)
        self.x = x


@dataclass(frozen=True)
class Judgement:
    """The lower bound on kappa* that a witness proves, rounding allowed for, and the witness with its plain ratio.

    ``output`` is what the rule returned, in floats; None if it returned no vector.
    """

    ratio: Bound
    witness: Witness
    output: tuple[float, ...] | None = None
