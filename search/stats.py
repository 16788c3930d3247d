"""What finding something out cost, and how a search went."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Improvement:
    """One point of a convergence trace: who raised the best ratio to what, after how much work, in which dimension."""

    adversary: str
    evaluations: int
    seconds: float
    ratio: float
    dimension: int


@dataclass(frozen=True)
class Stats:
    """What it cost, and for a search how it went.

    ``dimensions`` has the best ratio per dimension, ``faults`` counts inputs for which the rule returned no vector
    (the first one in words: ``fault``), ``interrupted`` says that it was stopped before its end, by the user or
    because it was ``timed_out``. ``precision`` says in words what the rule was measured to be exact to.
    """

    seconds: float
    evaluations: int = 0
    programs: int = 0
    seed: int | None = None
    adversaries: tuple[str, ...] = ()
    trace: tuple[Improvement, ...] = ()
    dimensions: tuple[tuple[int, float], ...] = ()
    faults: int = 0
    fault: str | None = None
    interrupted: bool = False
    timed_out: bool = False
    precision: str | None = None
