"""The adversary that owns the whole slack of a rule: R_t is any vector with ||R_t - mean||^2 <= kappa times variance.

This is all that the convergence proofs assume of a rule, so it is the worst case of the theorems. In a configuration it
stands in the place of the rule, and ``kappa`` is its coefficient.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kappaguard.rules.base.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

NAMES = {"slack": True, "slack-against": False}
"""``slack`` plays the run that refutes Theorem 1 as stated (see claim theorem-1): in the
first step the error points against the honest mean, afterwards along it. ``slack-against`` never turns. With a rule in
brackets, as in ``slack(krum)``, the coefficient is that rule's."""
_NAME = re.compile(rf"({'|'.join(NAMES)})(?:\((.+)\))?")


@dataclass(frozen=True)
class Slack:
    """In place of a rule: the honest mean, moved as far as kappa allows, against itself first and then along itself.

    Without ``turns`` it is moved against itself in every step. A mean of zero is moved along the first axis.
    """

    kappa: float
    honest: int
    turns: bool = True
    step: int = 1
    label: str = "slack"

    def at(self, step: int) -> Slack:
        """This adversary as it acts in that step."""
        return replace(self, step=step)

    def __call__(self, messages: Tensor) -> Tensor:
        """The aggregate of the vectors."""
        import torch

        mine = messages[: self.honest]
        mean = mine.mean(dim=0)
        variance = ((mine - mean) ** 2).sum() / self.honest
        sign = 1.0 if self.turns and self.step > 1 else -1.0
        axis = torch.zeros_like(mean)
        axis[0] = 1.0
        length = mean.norm()
        moved: Tensor = mean + sign * (self.kappa * variance).sqrt() * (mean / length if length > 0 else axis)
        return moved


def is_slack(name: str) -> bool:
    """Whether it is this adversary that stands in the place of a rule."""
    return _NAME.fullmatch(name) is not None


def owner_of(name: str) -> str | None:
    """The rule in the brackets, if there is one."""
    found = _NAME.fullmatch(name)
    return None if found is None else found[2]


def slack_named(name: str, kappa: float | None, honest: int) -> Slack:
    """The adversary of that name."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise InputError(f"{name!r} is not one of {', '.join(NAMES)}")
    if kappa is None:
        raise InputError(f"{name} needs to know its coefficient: --kappa")
    return Slack(kappa, honest, NAMES[found[1]], label=name)
