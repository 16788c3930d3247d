"""Whether the steps of a run can do with one look of the CPU at the device."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kappaguard.training import device

if TYPE_CHECKING:
    from kappaguard.search.attacks.base import Aggregation, Attack


class GlanceChoice:
    """What local and distributed training ask before a step, see ``kappaguard.training.device``."""

    if TYPE_CHECKING:
        settings: Any
        state: Any
        rule: Aggregation
        attack: Attack | None

    @cached_property
    def _one_glance_for_all(self) -> bool:
        """Whether one look is enough for attack and rule."""
        return self._one_glance_for_rule and self.settings.f > 0 and device.fits(self.attack, self.rule)

    @cached_property
    def _one_glance_for_rule(self) -> bool:
        """Whether one look is enough for the rule, whatever the attack is."""
        return device.is_there(self.state.theta) and device.fits_rule(self.rule)
