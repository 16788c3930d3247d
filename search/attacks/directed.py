"""The primitive that ALIE, FOE and SF share: the honest mean plus eta times a direction."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.arrays import Array
from kappaguard.rules.errors import InputError
from kappaguard.search.attacks.base import Action, Aggregation, Attack, Total, mean_of, repeated, require_honest, whole
from kappaguard.search.attacks.line import reduced_for, strongest


@dataclass(frozen=True)
class Directed(Attack):
    """All Byzantine workers send mean + eta a (paper, appendix on Byzantine attacks).

    If eta is None, every step takes the eta that maximises ||F(x) - mean|| for the rule F under attack, as in the
    paper's optimised attacks: over both signs, or with ``positive`` over eta >= 0 as in the paper. The larger distance
    need not be the larger damage: FOE with eta < 0 sends a larger multiple of the mean.

    Against the geometric median the error keeps growing with eta, ever more slowly: the search goes up to 50 standard
    deviations, and then looks at a million.
    """

    eta: float | None = None
    positive: bool = False

    def __post_init__(self) -> None:
        if self.eta is not None and not math.isfinite(self.eta):
            raise InputError(f"{self.name}: eta must be a finite number, got {self.eta!r}")

    @property
    def label(self) -> str:
        """The name, with eta if it is fixed."""
        if self.eta is not None:
            return f"{self.name}(eta={self.eta:g})"
        return f"{self.name}(positive=True)" if self.positive else self.name

    @property
    def needs_rule(self) -> bool:
        """Without a fixed eta it asks the rule."""
        return self.eta is None

    @abstractmethod
    def direction(self, honest: Array, mean: Array) -> Array:
        """The direction a."""

    def act(
        self, honest: Array, f: int, rule: Aggregation | None = None, memory: Any = None, total: Total = whole
    ) -> Action:
        """The mean plus eta times the direction, f times."""
        require_honest(honest, f)
        mean = mean_of(honest)
        direction = self.direction(honest, mean)
        if self.eta is not None or f == 0:
            return Action(repeated(mean + (self.eta or 0.0) * direction, f), eta=self.eta)
        if rule is None:
            raise InputError(f"{self.name} needs the rule that it attacks, or a fixed eta")
        reduced = reduced_for(rule, honest, mean, direction, total)
        best = strongest(rule, honest, f, mean, direction, total, self.positive, reduced)
        vectors = repeated(mean + best.eta * direction, f)
        return Action(vectors, eta=best.eta, error=best.error, beginning=reduced.beginning)
