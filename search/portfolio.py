"""One scheduler for all adversaries: the next slice goes to whom the last ones paid best.

Each adversary is an arm of a bandit. What a slice earned is by how much it raised the logarithm of the best ratio, per
evaluation; old earnings are forgotten. An arm is chosen by

    earnings / best earnings  +  sqrt(log(all slices) / own slices) * weight,

upper confidence bounds with a weight that says how much an adversary deserves to be tried when nobody earns anything.
Nothing here looks at the clock, so a budget in evaluations gives the same result for the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kappaguard.search.adversaries.attacks import Attacks
from kappaguard.search.adversaries.base import Adversary
from kappaguard.search.adversaries.boundaries import Boundaries
from kappaguard.search.adversaries.cells import CellAscent
from kappaguard.search.adversaries.chains import Chains
from kappaguard.search.adversaries.cma import CovarianceMatrixAdaptation
from kappaguard.search.adversaries.evolution import DifferentialEvolution
from kappaguard.search.adversaries.extremal import Extremal
from kappaguard.search.adversaries.frames import Frames
from kappaguard.search.adversaries.gradient import GradientAscent
from kappaguard.search.adversaries.guesses import Guesses
from kappaguard.search.adversaries.levels import Levels
from kappaguard.search.adversaries.local import LocalSearch
from kappaguard.search.adversaries.structured import Structured
from kappaguard.search.arena import Arena, Exhausted

FORGET = 0.7
UNIT = 512
"""A slice of this many evaluations counts as one."""

ADVERSARIES: tuple[tuple[Adversary, float], ...] = (
    (Extremal(), 2.0),
    (Chains(), 2.0),
    (Structured(), 2.0),
    (Guesses(), 2.0),
    (Levels(), 2.0),
    (LocalSearch(), 1.0),
    (Frames(), 1.0),
    (CellAscent(), 1.0),
    (CovarianceMatrixAdaptation(), 2.0),
    (DifferentialEvolution(), 0.3),
    (Attacks(), 0.3),
    (Boundaries(), 4.0),
    (GradientAscent(), 0.7),
)
"""With their weights; in the order of their first slices, those that import much last."""


@dataclass
class Arm:
    """An adversary at work, and what it has cost and found so far."""

    adversary: Adversary
    weight: float
    slices: Iterator[None]
    spent: float = 0.0
    earnings: float = 0.0
    alive: bool = True

    def score(self, best: float, total: float) -> float:
        """The upper confidence bound; without any, it is next."""
        if not self.spent:
            return math.inf
        share = self.earnings / best if best > 0 else 0.0
        return share + self.weight * math.sqrt(math.log(total + 2) / self.spent)


def hunt(
    arena: Arena, seed: int, adversaries: Sequence[tuple[Adversary, float]] = ADVERSARIES
) -> KeyboardInterrupt | None:
    """Run the portfolio until the budget is used up; what interrupted it (Ctrl-C) before, if anything did."""
    children = np.random.SeedSequence(seed).spawn(len(adversaries))
    arms = [
        Arm(adversary, weight, adversary.run(arena, np.random.default_rng(child)))
        for (adversary, weight), child in zip(adversaries, children, strict=True)
        if adversary.applies(arena)
    ]
    try:
        with np.errstate(all="ignore"):
            while any(arm.alive for arm in arms):
                _slice(arena, _chosen(arms))
    except Exhausted:
        return None
    except KeyboardInterrupt as interrupt:
        return interrupt
    return None


def _chosen(arms: list[Arm]) -> Arm:
    alive = [arm for arm in arms if arm.alive]
    best, total = max(arm.earnings for arm in alive), sum(arm.spent for arm in alive)
    return max(alive, key=lambda arm: arm.score(best, total))


def _slice(arena: Arena, arm: Arm) -> None:
    arena.adversary = arm.adversary.name
    used, before = arena.used, arena.best.ratio if arena.best else 0.0
    arm.alive = next(arm.slices, "ended") is None
    cost = max(1, arena.used - used) / UNIT
    after = arena.best.ratio if arena.best else 0.0
    gain = math.log(after / before) if before > 0 and math.isfinite(after) else float(after > before)
    arm.spent += cost
    arm.earnings = FORGET * arm.earnings + (1 - FORGET) * max(0.0, gain) / cost
