"""Flower's strategies on symbols: stand-ins for the containers that would turn arrays into bytes.

A strategy packs and unpacks what it aggregates. Here the containers hold symbolic arrays as they are; everything
between unpacking and packing is Flower's own code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from kappaguard.rules.foreign.flower import FitCall, Reply, TrainCall, quiet, weighted
from kappaguard.rules.recipe.trace.merging import standing
from kappaguard.rules.recipe.trace.places import Ranked

PLAIN = "symbols"


class SymbolicLayer:
    """A layer of a model, as ``flwr.app.Array`` would hold it."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def numpy(self) -> Any:
        """The array itself."""
        return self.array

    def chosen(self, place: Ranked, others: list[Any]) -> SymbolicLayer:
        """The layer that stands at a place among others."""
        return SymbolicLayer(standing(place, [each.array for each in others]))


class Layers(dict[str, SymbolicLayer]):
    """``flwr.app.ArrayRecord``."""

    def to_numpy_ndarrays(self, **_: Any) -> list[Any]:
        """All layers as arrays."""
        return [each.array for each in self.values()]


class Content(dict[str, Any]):
    """``flwr.app.RecordDict``."""

    @property
    def array_records(self) -> dict[str, Layers]:
        """The records that hold layers."""
        return {key: value for key, value in self.items() if isinstance(value, Layers)}

    @property
    def metric_records(self) -> dict[str, Any]:
        """The records that hold metrics."""
        return {key: value for key, value in self.items() if not isinstance(value, Layers)}


def strategy_call(run: Any) -> Callable[[Any], Any] | None:
    """How to call a strategy on symbols; None if this is none."""
    if isinstance(run, FitCall):
        return lambda x: _fit(run, x)
    return (lambda x: _train(run, x)) if isinstance(run, TrainCall) else None


def _fit(run: FitCall, x: Any) -> Any:
    from flwr import common

    status = common.Status(common.Code.OK, "")
    results = [
        (None, common.FitRes(status, common.Parameters([row], PLAIN), count, {}))
        for row, count in weighted(x, run.counts)
    ]
    with quiet():
        parameters, _ = run.make(len(x)).aggregate_fit(1, results, [])
    if parameters is None or isinstance(parameters, list):
        return parameters[0] if parameters else None
    return parameters.tensors[0]


def _train(run: TrainCall, x: Any) -> Any:
    strategy = run.make(len(x))
    replies = [
        Reply(
            Content(
                {
                    getattr(strategy, "arrayrecord_key", "arrays"): Layers({"0": SymbolicLayer(row)}),
                    "metrics": {getattr(strategy, "weighted_by_key", "num-examples"): count},
                }
            )
        )
        for row, count in weighted(x, run.counts)
    ]
    with quiet():
        arrays, _ = strategy.aggregate_train(1, replies)
    return None if arrays is None else arrays.to_numpy_ndarrays()[0]


def stand_ins() -> dict[Any, Callable[..., Any]]:
    """Our versions of Flower's containers, if Flower was imported."""
    if "flwr.common" not in sys.modules:
        return {}
    from flwr import app, common

    def packed(arrays: Any) -> Any:
        return common.Parameters(list(arrays), PLAIN)

    def unpacked(parameters: Any) -> Any:
        held = parameters.tensor_type == PLAIN
        return list(parameters.tensors) if held else common.parameters_to_ndarrays(parameters)

    def layer(value: Any, *rest: Any, **options: Any) -> Any:
        return SymbolicLayer(value) if isinstance(value, np.ndarray) else app.Array(value, *rest, **options)

    def record(given: Any = ()) -> Layers:
        named = dict(given) if isinstance(given, dict) else {str(place): each for place, each in enumerate(given)}
        return Layers(
            {name: SymbolicLayer(each) if isinstance(each, np.ndarray) else each for name, each in named.items()}
        )

    return {
        common.ndarrays_to_parameters: packed,
        common.parameters_to_ndarrays: unpacked,
        app.Array: layer,
        app.ArrayRecord: record,
        app.MetricRecord: lambda given=(): dict(given),
    }
