"""ByzFL: ``rule(vectors)`` for an (n, d) array, pre-aggregations likewise, and its own pipelines.

Handed NumPy float64, because ByzFL casts every torch tensor to float32; ``backend="torch"`` tests that path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.foreign.convert import form_named
from kappaguard.rules.foreign.parameters import Wanted
from kappaguard.rules.foreign.rebuild import Remaker, remaker

MODULES = (
    "byzfl.aggregators.aggregators",
    "byzfl.aggregators.preaggregators",
    "byzfl.fed_framework.robust_aggregator",
)
"""Where ``byzfl:Name`` is looked for."""

SHELLS = ("byzfl", "byzfl.fed_framework")
"""Packages whose own code pulls in the benchmark, and with it torchvision: passed by."""

PRE_AGGREGATIONS = "byzfl.aggregators.preaggregators"


@dataclass(frozen=True)
class ByzflCall:
    """One evaluation; a ``RobustAggregator`` has a method where the others are callable."""

    make: Remaker

    def __call__(self, vectors: Array) -> Any:
        rule = self.make(len(vectors))
        pipeline = getattr(rule, "aggregate_vectors", None)
        return pipeline(vectors) if pipeline is not None else rule(vectors)


def adapt(target: Any, request: Wanted) -> Adapted | PreAdapted:
    """A class or an object of ByzFL; options other than ``backend`` go to the constructor."""
    make = remaker(target, request, request.without("backend"))
    trial = make(request.trial_rows)
    if not callable(trial) and not hasattr(trial, "aggregate_vectors"):
        raise InputError(f"{request.name} is not an aggregation rule of ByzFL")
    is_pre = any(cls.__module__ == PRE_AGGREGATIONS for cls in type(trial).__mro__)
    form = form_named(request.options.get("backend", "numpy"))
    return (PreAdapted if is_pre else Adapted)(request.name, request.f, ByzflCall(make), form, request.seed)
