"""SF: sign flipping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.search.attacks.base import Action, Aggregation, Attack, Total, mean_of, repeated, require_honest, whole


@dataclass(frozen=True)
class SignFlipping(Attack):
    """All Byzantine workers send minus the honest mean: a = -mean and eta = 2 (paper; Allen-Zhu et al. 2020)."""

    name: ClassVar[str] = "sf"

    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """Minus the mean, f times."""
        require_honest(honest, f)
        return Action(repeated(-mean_of(honest), f), eta=2.0)
