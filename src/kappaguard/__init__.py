"""kappaguard finds, proves and guards the worst case of Byzantine-robust aggregation rules.

``import kappaguard as kg`` is instant: what it offers is imported when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kappaguard.assertion import assert_robust
    from kappaguard.rules.names import rule
    from kappaguard.rules.weighted import weighted
    from kappaguard.verify.estimate.api import estimate
    from kappaguard.verify.estimate.estimator import Estimator
    from kappaguard.verify.estimate.monitor import Monitor
    from kappaguard.verify.guard.check import check
    from kappaguard.verify.judge.exact import exact
    from kappaguard.verify.judge.exact_weighted import exact_weighted
    from kappaguard.verify.judge.search import search

__version__ = "0.1.0"

__all__ = [
    "Estimator",
    "Monitor",
    "__version__",
    "assert_robust",
    "check",
    "estimate",
    "exact",
    "exact_weighted",
    "rule",
    "search",
    "weighted",
]

_HOMES = {
    "Estimator": "kappaguard.verify.estimate.estimator",
    "Monitor": "kappaguard.verify.estimate.monitor",
    "assert_robust": "kappaguard.assertion",
    "check": "kappaguard.verify.guard.check",
    "estimate": "kappaguard.verify.estimate.api",
    "exact": "kappaguard.verify.judge.exact",
    "exact_weighted": "kappaguard.verify.judge.exact_weighted",
    "rule": "kappaguard.rules.names",
    "weighted": "kappaguard.rules.weighted",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Search(ModuleType):
    """``kg.search`` is a function of the public surface and a sub-package: so the package answers calls.

    Python binds the one name to the module as soon as anything of it is imported, whatever was there before.
    """

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from kappaguard.verify.judge.search import search

        return search(*arguments, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle sends modules by name, but only those of the plain type
        return import_module, (self.__name__,)


import_module("kappaguard.search")
sys.modules["kappaguard.search"].__class__ = _Search
