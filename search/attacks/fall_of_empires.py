"""FOE: fall of empires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.search.attacks.directed import Directed


@dataclass(frozen=True)
class FallOfEmpires(Directed):
    """All Byzantine workers send (1 - eta) mean: a = -mean (paper; Xie et al. 2020)."""

    name: ClassVar[str] = "foe"
    deviation: ClassVar[bool | None] = False

    def direction(self, honest: Array, mean: Array) -> Array:
        """Minus the honest mean."""
        return -mean
