"""The primitive that ALIE, FOE and SF share: the honest mean plus eta times a direction."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.search.attacks.base import Action, Aggregation, Attack, Total, mean_of, repeated, require_honest, whole
from kappaguard.search.attacks.line import reduced_for, strongest, walked
from kappaguard.search.attacks.walk import GRID, LINE16, SEARCHES


@dataclass(frozen=True)
class Directed(Attack):
    """All Byzantine workers send mean + eta a (paper, appendix on Byzantine attacks).

    If eta is None, every step takes the eta that maximises ||F(x) - mean|| for the rule F under attack, as in the
    paper's optimised attacks: over both signs, or with ``positive`` over eta >= 0 as in the paper. The larger distance
    need not be the larger damage: FOE with eta < 0 sends a larger multiple of the mean.

    Against the geometric median the error keeps growing with eta, ever more slowly: the search goes up to 50 standard
    deviations, and then looks at a million.

    ``search="line16"`` is the search of the paper's authors instead, over sixteen values (``walk``): for their setting.
    """

    eta: float | None = None
    positive: bool = False
    search: str = GRID
    deviation: ClassVar[bool | None] = None
    """True says that the direction is the standard deviation per coordinate, False that it is minus the mean.

    It goes with ``direction``: a class that defines another one has None unless it says so.
    """

    def __init_subclass__(cls) -> None:
        if "direction" in cls.__dict__ and "deviation" not in cls.__dict__:
            cls.deviation = None

    def __post_init__(self) -> None:
        if self.search not in SEARCHES:
            raise InputError(f"{self.name}: search is one of {', '.join(SEARCHES)}, got {self.search!r}")
        if self.eta is not None and not math.isfinite(self.eta):
            raise InputError(f"{self.name}: eta must be a finite number, got {self.eta!r}")

    @property
    def label(self) -> str:
        """The name, with eta if it is fixed."""
        if self.eta is not None:
            return f"{self.name}(eta={self.eta:g})"
        if self.search != GRID:
            return f"{self.name}(search={self.search!r})"
        return f"{self.name}(positive=True)" if self.positive else self.name

    @property
    def needs_rule(self) -> bool:
        """Without a fixed eta it asks the rule."""
        return self.eta is None

    @abstractmethod
    def direction(self, honest: Array, mean: Array) -> Array:
        """The direction a, along which the Byzantine vectors leave the mean."""

    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """The mean plus eta times the direction, f times."""
        require_honest(honest, f)
        if self.eta is not None or f == 0:
            mean = mean_of(honest)
            return Action(repeated(mean + (self.eta or 0.0) * self.direction(honest, mean), f), eta=self.eta)
        if rule is None:
            raise InputError(f"{self.name} needs the rule that it attacks, or a fixed eta")
        mean = mean_of(honest)
        direction = self.direction(honest, mean)
        reduced = reduced_for(rule, honest, mean, direction, total)
        if self.search == LINE16:
            best = walked(rule, honest, f, mean, direction, total, reduced)
        else:
            best = strongest(rule, honest, f, mean, direction, total, self.positive, reduced)
        vector = best.eta * direction
        vector += mean
        return Action(repeated(vector, f), eta=best.eta, error=best.error)
