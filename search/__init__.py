"""The finders. The package can be called: ``kappaguard.search(rule, n=17, f=4)`` is ``kappaguard.verify.lower.search``.

``kg.search`` is both a function of the public surface and, as a sub-module of ``kappaguard``, this package; Python
binds the one name to whichever was imported last. So the module itself answers calls.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from kappaguard.verify.lower import search

        return search(*arguments, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        # cloudpickle sends modules by name, but only those of the plain type
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Callable
