"""FedML: a defence gets ``[(num_examples, {name: tensor}), ...]`` before the aggregation, in its place, or both.

``defend_before_aggregation`` returns such a list, which FedML averages by the numbers of examples;
``defend_on_aggregation`` returns the aggregate. Every parameter is read off one ``config``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.counts import OPTION, Counts, counted, per_row
from kappaguard.rules.foreign.parameters import Wanted
from kappaguard.rules.foreign.rebuild import Remaker, remaker

FILES = ("krum", "coordinate_wise_median", "coordinate_wise_trimmed_mean", "geometric_median")
MODULES = tuple(f"fedml.core.security.defense.{name}_defense" for name in FILES)
SHELLS = ("fedml", "fedml.core", "fedml.core.security", "fedml.core.security.defense", "fedml.core.security.common")
"""The packages start the whole platform: passed by."""

NAME = "weight"


@dataclass(frozen=True)
class Defence:
    """One evaluation: what a server of FedML does with a defence, around its average."""

    make: Remaker
    counts: Counts

    def __call__(self, vectors: Array) -> Any:
        rule = self.make(len(vectors))
        clients = [
            (count, OrderedDict({NAME: row}))
            for row, count in zip(vectors, per_row(self.counts, len(vectors)), strict=True)
        ]
        if defines(rule, "defend_before_aggregation"):
            clients = rule.defend_before_aggregation(clients)
        if defines(rule, "defend_on_aggregation"):
            return rule.defend_on_aggregation(clients, base_aggregation_func=None)[NAME]
        total = sum(count for count, _ in clients)
        return sum(layers[NAME] * (count / total) for count, layers in clients)


def defines(rule: Any, method: str) -> bool:
    """Whether a defence has a method of its own, and not that of the base class."""
    return any(method in vars(cls) for cls in type(rule).__mro__ if cls.__name__ != "BaseDefenseMethod")


def configured(options: Mapping[str, Any]) -> Any:
    """The configuration for n and f, as a user who knows them writes it."""

    def configuration(rows: int, f: int) -> SimpleNamespace:
        known = {"byzantine_client_num": f, "client_num_per_round": rows, "beta": f / rows, "batch_num": rows}
        return SimpleNamespace(**{**known, **options})

    return configuration


def adapt(target: Any, request: Wanted) -> Adapted:
    """A defence of FedML; options go to its configuration, but for ``num_examples``."""
    counts = counted(request.options.get(OPTION, 1))
    make = remaker(target, request, {}, {"config": configured(request.without(OPTION))})
    trial = make(request.trial_rows)
    if not any(defines(trial, name) for name in ("defend_before_aggregation", "defend_on_aggregation")):
        raise InputError(f"{request.name} is not a defence of FedML that aggregates")
    return Adapted(request.name, request.f, Defence(make, counts), "torch", request.seed)
