"""A new foreign object for each call: constructed from its class, or copied from the one that was handed over."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.parameters import NO_DERIVED, Derived, Wanted, bind, one_line
from kappaguard.rules.foreign.seeding import seeded


class Remaker(Protocol):
    """Makes the object for an input of so many rows."""

    def __call__(self, rows: int) -> Any: ...


@dataclass(frozen=True)
class Constructed:
    """A class and its parameters; those that follow from (n, f) are computed for the rows at hand."""

    cls: type[Any]
    name: str
    f: int
    options: Mapping[str, Any] = field(default_factory=dict)
    derived: Derived = field(default_factory=dict)

    def __call__(self, rows: int) -> Any:
        options = copy.deepcopy(dict(self.options))
        positional, keywords = bind(self.cls, self.name, rows, self.f, options, derived=self.derived)
        return self.cls(*positional, **keywords)


@dataclass(frozen=True)
class Copied:
    """A snapshot of an object, taken when it was handed over."""

    snapshot: Any

    def __call__(self, rows: int) -> Any:
        return copy.deepcopy(self.snapshot)


def remaker(target: Any, request: Wanted, options: Mapping[str, Any], derived: Derived = NO_DERIVED) -> Remaker:
    """How to make ``target`` (a class or an object) anew; tried once, so that a wrong request fails at once."""
    if not inspect.isclass(target):
        if options:
            raise InputError(f"{request.name} is a finished object and takes no option {', '.join(sorted(options))}")
        return Copied(_copied(target, request.name))
    constructed = Constructed(target, request.name, request.f, dict(options), derived)
    try:
        with seeded(request.seed):
            constructed(request.trial_rows)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{request.name} cannot be constructed with f={request.f}: {one_line(error)}") from error
    return constructed


def _copied(target: Any, name: str) -> Any:
    try:
        return copy.deepcopy(target)
    except Exception as error:
        raise InputError(f"{name} cannot be copied, hand over its class instead: {one_line(error)}") from error
