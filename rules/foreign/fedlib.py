"""fedlib, the library under Blades: ``rule([tensor, ...])`` gives a tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.adapted import Adapted
from kappaguard.rules.foreign.parameters import Wanted
from kappaguard.rules.foreign.rebuild import Remaker, remaker

LIBRARIES = ("fedlib", "fllib")
"""The library, and its name while it was a part of Blades."""

FILES = ("aggregators", "multikrum", "centeredclipping", "clippedclustering", "signguard")
"""One by one, because the last two need scikit-learn and the others do not."""

MODULES = tuple(f"{library}.aggregators.{file}" for library in LIBRARIES for file in FILES)
SHELLS = tuple(f"{library}{package}" for library in LIBRARIES for package in ("", ".aggregators", ".utils"))
"""The packages start Ray and the data sets: passed by."""


@dataclass(frozen=True)
class FedlibCall:
    """One evaluation: the rows as a list of tensors."""

    make: Remaker

    def __call__(self, vectors: Array) -> Any:
        return self.make(len(vectors))(list(vectors))


def adapt(target: Any, request: Wanted) -> Adapted:
    """A class or an object of fedlib; options go to the constructor."""
    make = remaker(target, request, request.options)
    if not callable(make(request.trial_rows)):
        raise InputError(f"{request.name} is not an aggregation rule of fedlib")
    return Adapted(request.name, request.f, FedlibCall(make), "torch", request.seed)
