"""TorchJD: an ``Aggregator`` is a torch module from an (n, d) matrix to a vector."""

from __future__ import annotations

import inspect
from typing import Any

from kappaguard.rules.adapters import callables
from kappaguard.rules.adapters.adapted import Adapted, PreAdapted
from kappaguard.rules.adapters.parameters import Request
from kappaguard.rules.errors import InputError

MODULES = ("torchjd.aggregation",)
SHELLS: tuple[str, ...] = ()


def adapt(target: Any, request: Request) -> Adapted | PreAdapted:
    """A class or an object of TorchJD; options go to the constructor.

    Its weightings are refused: they take the Gram matrix and return weights, not a vector.
    """
    cls = target if inspect.isclass(target) else type(target)
    if not any(base.__name__ == "Aggregator" for base in cls.__mro__):
        raise InputError(f"{request.name} is not an aggregator of TorchJD (its weightings take the Gram matrix)")
    return callables.adapt(target, request)
