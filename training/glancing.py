"""Whether the steps of a run can do with one look of the CPU at the device."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kappaguard.training import device

if TYPE_CHECKING:
    from kappaguard.search.attacks.base import Aggregation, Attack


class Glancing:
    """What local and distributed training ask before a step, see ``kappaguard.training.device``."""

    if TYPE_CHECKING:
        settings: Any
        state: Any
        rule: Aggregation
        attack: Attack | None

    @cached_property
    def _glances(self) -> bool:
        """Whether one look is enough for attack and rule."""
        return self._sees and self.settings.f > 0 and device.fits(self.attack, self.rule)

    @cached_property
    def _sees(self) -> bool:
        """Whether one look is enough for the rule, whatever the attack is."""
        return device.is_there(self.state.theta) and device.fits_rule(self.rule)
