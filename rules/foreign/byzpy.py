"""ByzPy: ``rule.aggregate([tensor, ...])`` gives a tensor, ``pre.pre_aggregate([tensor, ...])`` a list of them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.foreign.parameters import Derived, Wanted
from kappaguard.rules.foreign.rebuild import Remaker, remaker

MODULES = (
    "byzpy.aggregators.coordinate_wise",
    "byzpy.aggregators.geometric_wise",
    "byzpy.aggregators.norm_wise",
    "byzpy.pre_aggregators",
)
SHELLS = ("byzpy",)
"""The top package starts the engine: passed by."""


@dataclass(frozen=True)
class Aggregate:
    """One evaluation of a rule."""

    make: Remaker

    def __call__(self, vectors: Array) -> Any:
        return self.make(len(vectors)).aggregate(list(vectors))


@dataclass(frozen=True)
class PreAggregate:
    """One evaluation of a pre-aggregation; its list of vectors becomes a matrix."""

    make: Remaker

    def __call__(self, vectors: Array) -> Any:
        import torch

        output = self.make(len(vectors)).pre_aggregate(list(vectors))
        return torch.stack(output) if isinstance(output, list) else output


def adapt(target: Any, request: Wanted) -> Adapted | PreAdapted:
    """A class or an object of ByzPy; options go to the constructor.

    MultiKrum averages n - f vectors unless ``q`` says otherwise. Bucketing shuffles with a generator of its own,
    which global seeding does not reach: it is given one.
    """
    derived: Derived = {"q": lambda rows, f: rows - f, "rng": lambda rows, f: random.Random(request.seed)}
    make = remaker(target, request, request.options, derived)
    trial = make(request.trial_rows)
    if hasattr(trial, "pre_aggregate"):
        return PreAdapted(request.name, request.f, PreAggregate(make), "torch", request.seed)
    if hasattr(trial, "aggregate"):
        return Adapted(request.name, request.f, Aggregate(make), "torch", request.seed)
    raise InputError(f"{request.name} is neither an aggregator nor a pre-aggregator of ByzPy")
