"""Flower: functions over (layers, number of examples), old strategies over fit results, new ones over messages.

Each client reports how many examples it has, and some rules weigh by it: see ``counts``.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.counts import Counts, counted, per_row
from kappaguard.rules.foreign.parameters import Derived, Wanted, bind, listed
from kappaguard.rules.foreign.rebuild import Remaker, remaker

FUNCTIONS = "flwr.server.strategy.aggregate"
MODULES = ("flwr.serverapp.strategy", FUNCTIONS, "flwr.server.strategy")
"""Where ``flwr:Name`` is looked for: the new strategies come first."""

SHELLS: tuple[str, ...] = ()


def cut_fraction(rows: int, f: int) -> float:
    """The fraction to trim at each end, as a user who knows n and f writes it."""
    return f / rows


DERIVED: Mapping[str, Derived] = {
    "aggregate": {},
    "aggregate_median": {},
    "aggregate_krum": {"to_keep": lambda rows, f: 0},
    "aggregate_bulyan": {"aggregation_rule": lambda rows, f: importlib.import_module(FUNCTIONS).aggregate_krum},
    "aggregate_trimmed_avg": {"proportiontocut": cut_fraction},
}
"""The functions that are rules, and their parameters that follow from (n, f)."""


@contextmanager
def quiet() -> Iterator[None]:
    """Flower logs every aggregation; a search makes millions."""
    logger = logging.getLogger("flwr")
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def weighted(vectors: Array, counts: Counts) -> list[tuple[Array, int]]:
    """Each row with the number of examples that its client reports."""
    return list(zip(vectors, per_row(counts, len(vectors)), strict=True))


@dataclass(frozen=True)
class FunctionCall:
    """``function([([row], examples), ...], ...)`` gives a list of layers, of which there is one."""

    function: Callable[..., Any]
    name: str
    f: int
    counts: Counts
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, vectors: Array) -> Any:
        positional, keywords = self.arguments(len(vectors))
        results = [([row], count) for row, count in weighted(vectors, self.counts)]
        layers = self.function(results, *positional, **keywords)
        return None if layers is None else layers[0]

    def arguments(self, rows: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The parameters besides the results."""
        options = dict(self.options)
        if self.function.__name__ == "aggregate_bulyan":
            # Passed through to its inner Krum, which has no default for it.
            options.setdefault("to_keep", 0)
        derived = DERIVED[self.function.__name__]
        return bind(self.function, self.name, rows, self.f, options, derived=derived, vectors=1)


@dataclass(frozen=True)
class FitCall:
    """An old strategy: ``aggregate_fit(round, [(client, FitRes), ...], failures)`` gives (parameters, metrics)."""

    make: Remaker
    counts: Counts

    def __call__(self, vectors: Array) -> Any:
        common = importlib.import_module("flwr.common")
        status = common.Status(common.Code.OK, "")
        results = [
            (_client(place), common.FitRes(status, common.ndarrays_to_parameters([row]), count, {}))
            for place, (row, count) in enumerate(weighted(vectors, self.counts))
        ]
        with quiet():
            parameters, _ = self.make(len(vectors)).aggregate_fit(1, results, [])
        if parameters is None or isinstance(parameters, list):
            return parameters[0] if parameters else None
        return common.parameters_to_ndarrays(parameters)[0]


def _client(place: int) -> Any:
    """A client as Flower knows it, with an id; it is not there to be asked anything."""
    proxy = importlib.import_module("flwr.server.client_proxy").ClientProxy
    nothing = dict.fromkeys(proxy.__abstractmethods__, lambda *_, **__: None)
    return type("Client", (proxy,), nothing)(str(place))


@dataclass(frozen=True)
class Reply:
    """The part of Flower's ``Message`` that its strategies look at."""

    content: Any

    def has_error(self) -> bool:
        """No: every client answers."""
        return False

    def has_content(self) -> bool:
        """Yes: a vector and a number of examples."""
        return True


@dataclass(frozen=True)
class TrainCall:
    """A new strategy: ``aggregate_train(round, replies)`` gives (arrays, metrics) and uses up the replies."""

    make: Remaker
    counts: Counts

    def __call__(self, vectors: Array) -> Any:
        app = importlib.import_module("flwr.app")
        strategy = self.make(len(vectors))
        replies = [
            Reply(
                app.RecordDict(
                    {
                        getattr(strategy, "arrayrecord_key", "arrays"): app.ArrayRecord([row]),
                        "metrics": app.MetricRecord({getattr(strategy, "weighted_by_key", "num-examples"): count}),
                    }
                )
            )
            for row, count in weighted(vectors, self.counts)
        ]
        with quiet():
            arrays, _ = strategy.aggregate_train(1, replies)
        return None if arrays is None else arrays.to_numpy_ndarrays()[0]


def adapt(target: Any, request: Wanted) -> Adapted:
    """A function of ``flwr.server.strategy.aggregate``, or a class or an object of either kind of strategy.

    Options other than ``num_examples`` go to the function or to the constructor. A trimmed mean cuts f / n at each
    end unless told otherwise.
    """
    for module in ("flwr.common", "flwr.app"):
        importlib.import_module(module)
    counts = counted(request.options.get("num_examples", 1))
    options = request.without("num_examples")
    if inspect.isroutine(target):
        if target.__name__ not in DERIVED:
            raise InputError(f"{request.name} is not an aggregation rule of Flower; the functions: {listed(DERIVED)}")
        call = FunctionCall(target, request.name, request.f, counts, options)
        call.arguments(request.trial_rows)
        return Adapted(request.name, request.f, call, "numpy", request.seed)
    make = remaker(target, request, options, {"beta": cut_fraction})
    trial = make(request.trial_rows)
    if hasattr(trial, "aggregate_train"):
        return Adapted(request.name, request.f, TrainCall(make, counts), "numpy", request.seed)
    if hasattr(trial, "aggregate_fit"):
        return Adapted(request.name, request.f, FitCall(make, counts), "numpy", request.seed)
    raise InputError(f"{request.name} is not a strategy of Flower")
