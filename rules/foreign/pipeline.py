"""Foreign pre-aggregations in front of a foreign rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, Guarded, PreAdapted


@dataclass(frozen=True)
class Stages:
    """Stage after stage; each gets a copy. Only the end result must be finite: a later stage may discard rows."""

    stages: tuple[Guarded, ...]

    def __call__(self, vectors: Array) -> Array:
        for stage in self.stages:
            vectors = stage.produce(vectors)
        return vectors


def chained(stages: Sequence[Adapted | PreAdapted], name: str, f: int, seed: int) -> Adapted | PreAdapted:
    """The pipeline of ``stages``, of which only the last may be a rule."""
    for stage in stages[:-1]:
        if isinstance(stage, Adapted):
            raise InputError(f"{stage.name} is a rule, and can only be the last stage of {name}")
    kind = Adapted if isinstance(stages[-1], Adapted) else PreAdapted
    return kind(name, f, Stages(tuple(stages)), "same", seed)
