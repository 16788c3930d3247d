"""TorchJD: an ``Aggregator`` is a torch module from an (n, d) matrix to a vector."""

from __future__ import annotations

import inspect
from typing import Any

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign import callables
from kappaguard.rules.foreign.adapted import Adapted, PreAdapted
from kappaguard.rules.foreign.parameters import Wanted

MODULES = ("torchjd.aggregation",)
SHELLS: tuple[str, ...] = ()


def adapt(target: Any, request: Wanted) -> Adapted | PreAdapted:
    """A class or an object of TorchJD; options go to the constructor.

    Its weightings are refused: they take the Gram matrix and return weights, not a vector.
    """
    cls = target if inspect.isclass(target) else type(target)
    if not any(base.__name__ == "Aggregator" for base in cls.__mro__):
        raise InputError(f"{request.name} is not an aggregator of TorchJD (its weightings take the Gram matrix)")
    return callables.adapt(target, request)
