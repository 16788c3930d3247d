"""Adapters less careful than the usual ones, so that state and randomness of a foreign rule show."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kappaguard.rules.foreign.adapted import Adapted, Guarded, PreAdapted
from kappaguard.rules.foreign.pipeline import Stages
from kappaguard.rules.foreign.rebuild import Remaker

G = TypeVar("G", Adapted, PreAdapted, Guarded)


@dataclass(frozen=True)
class SingleObject:
    """Makes the object once for each number of rows, and hands out that one from then on."""

    make: Remaker
    made: dict[int, Any] = field(default_factory=dict)

    def __call__(self, rows: int) -> Any:
        if rows not in self.made:
            self.made[rows] = self.make(rows)
        return self.made[rows]


def with_single_object(adapted: G) -> G:
    """The adapter with objects that outlive a call; a plain function has none and stays as it is."""
    run: Any = adapted.run
    if isinstance(run, Stages):
        run = Stages(tuple(with_single_object(stage) for stage in run.stages))
    elif hasattr(run, "make"):
        run = dataclasses.replace(run, make=SingleObject(run.make))
    return dataclasses.replace(adapted, run=run, recipe=None)


def reseeded(adapted: G, seed: int) -> G:
    """The adapter with another seed, in every stage of a pipeline."""
    run: Any = adapted.run
    if isinstance(run, Stages):
        run = Stages(tuple(reseeded(stage, seed) for stage in run.stages))
    return dataclasses.replace(adapted, run=run, seed=seed, recipe=None)
