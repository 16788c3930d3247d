"""Methods of tensors that change them in place, ``add_`` and its like, and ``scatter_``.

A tensor that was sliced from another one shares its entries, as in torch: what is changed is changed in both. A single
number has no such entry here, so that it is not changed in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import plain
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.tensors import METHODS, SymbolicTensor, arrays

CHANGES: tuple[str, ...] = (
    "add",
    "sub",
    "mul",
    "div",
    "truediv",
    "pow",
    "square",
    "sqrt",
    "abs",
    "neg",
    "clamp",
    "clip",
    "clamp_min",
)
CHANGES += ("clamp_max", "masked_fill", "full_like", "zeros_like", "expand_as", "scatter", "where")
NAMED = {"fill_": "full_like", "zero_": "zeros_like", "copy_": "copied"}


def _changing(name: str, meaning: str) -> Callable[..., Any]:
    def change(self: SymbolicTensor, *args: Any, **options: Any) -> SymbolicTensor:
        if not isinstance(self, SymbolicTensor):
            refuse(f"Tensor.{name} changes numbers into symbols", "make a new one")
        found = METHODS[meaning](self, *args, **options)
        if not self.ndim:
            refuse(f"Tensor.{name} changes a single number in place", f"use {meaning}, which makes a new one")
        self.array[...] = plain(np.broadcast_to(plain(arrays(found)), self.shape))
        return self

    return change


for _name in CHANGES:
    METHODS[f"{_name}_"] = _changing(f"{_name}_", _name)
for _name, _meaning in NAMED.items():
    METHODS[_name] = _changing(_name, _meaning)
for _name in ("add", "sub", "mul", "truediv"):

    def _assigned(self: SymbolicTensor, other: Any, name: str = _name) -> Any:
        return METHODS[f"{name}_"](self, other) if self.ndim else METHODS[name](self, other)

    setattr(SymbolicTensor, f"__i{_name}__", _assigned)
