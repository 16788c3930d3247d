"""Tensors that claim to be on another device: real numbers underneath, and an error as soon as two devices meet.

torch's own fake tensors have no values, and rules decide by values. These hold a CPU tensor, say that they are on
another device (``meta``, the only other one that a build of torch without GPUs accepts), and refuse what a GPU refuses:
operations with CPU tensors (other than single numbers), and NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

DEVICE = torch.device("meta")
WITHOUT_DOUBLE: list[torch.device] = []


class MixedDevices(AssertionError):
    """A CPU tensor met one that is elsewhere."""


class NoDouble(AssertionError):
    """A tensor of float64 on a device that has none."""


class Elsewhere(torch.Tensor):
    """A tensor on the pretended device."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Elsewhere:
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), dtype=inner.dtype, device=DEVICE, requires_grad=False
        )
        made.inner = inner
        return made

    def __repr__(self) -> str:
        return f"Elsewhere({self.inner!r})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return perform(func, args, kwargs or {})


class Pretend(TorchDispatchMode):
    """While active, what is asked for on the pretended device is made there."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return perform(func, args, kwargs or {})


def perform(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The operation on what is inside, its result where it belongs."""
    tensors = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    there = [each for each in tensors if isinstance(each, Elsewhere)]
    moves = func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
    here = [each for each in tensors if not isinstance(each, Elsewhere) and each.dim() > 0]
    if there and here and not moves:
        raise MixedDevices(f"{func} of tensors on {DEVICE} and on the CPU")
    wanted = kwargs.get("device")
    inside = dict(kwargs)
    if wanted is not None:
        inside["device"] = torch.device("cpu")
    bare = tree_map(lambda each: each.inner if isinstance(each, Elsewhere) else each, (args, inside))
    result = func(*bare[0], **bare[1])
    if wanted is not None:
        target = torch.device(wanted).type == DEVICE.type
    elif func is torch.ops.aten.copy_.default:
        target = isinstance(args[0], Elsewhere)
    else:
        target = bool(there)
    if not target:
        return result
    for each in tree_flatten(result)[0]:
        if WITHOUT_DOUBLE and isinstance(each, torch.Tensor) and each.dtype == torch.float64:
            raise NoDouble(f"{func} makes float64 on {DEVICE}")
    known = {id(each.inner): each for each in there}

    def wrap(each: Any) -> Any:
        return known.get(id(each), Elsewhere(each)) if isinstance(each, torch.Tensor) else each

    return tree_map(wrap, result)


@contextmanager
def pretended(double: bool = True) -> Iterator[torch.device]:
    """A machine with that device, which has float64 or not."""
    with torch.no_grad(), Pretend():
        if not double:
            WITHOUT_DOUBLE.append(DEVICE)
        try:
            yield DEVICE
        finally:
            WITHOUT_DOUBLE.clear()
