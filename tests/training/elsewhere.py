"""Tensors that claim to be on another device: real numbers underneath, and an error as soon as two devices meet.

torch's own fake tensors have no values, and rules decide by values. These hold a CPU tensor, say that they are on
another device (``meta``, the only other one that a build of torch without GPUs accepts), and refuse what a GPU refuses:
operations with CPU tensors (other than single numbers), and NumPy.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


VIEWS = (
    *("view", "_unsafe_view", "expand", "slice", "select", "transpose", "permute", "t", "as_strided", "unsqueeze"),
    *("squeeze", "split", "split_with_sizes", "unfold", "alias", "detach", "lift_fresh", "unbind", "diagonal"),
    *("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"),
)
"""Operations that a GPU does nothing for."""
WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero")
"""Operations whose result the CPU waits for, as it does for copies to itself."""


@dataclass
class Tally:
    """What a GPU would have been asked for: kernels, and results that the CPU waited for; the largest tensors."""

    launches: int = 0
    waits: int = 0
    largest: int = 0
    largest_double: int = 0
    names: list[str] = field(default_factory=list)


class Counting(threading.local):
    """Tallies of this thread: another one has another device."""

    def __init__(self) -> None:
        self.tallies: list[Tally] = []


COUNTING = Counting()


def tally(func: Any, result: Any, moved: bool) -> None:
    """Count an operation on the pretended device; ``moved`` says that its result is on the CPU."""
    name = func.overloadpacket.__name__
    made = [each for each in tree_flatten(result)[0] if isinstance(each, torch.Tensor)]
    for each in COUNTING.tallies:
        if name in WAITS or moved:
            each.waits += 1
            each.names.append(f"wait:{name}")
        if name not in VIEWS:
            each.launches += 1
            each.names.append(name)
            each.largest = max([each.largest, *(tensor.numel() for tensor in made)])
            double = [tensor.numel() for tensor in made if tensor.dtype == torch.float64]
            each.largest_double = max([each.largest_double, *double])


@contextmanager
def counted() -> Iterator[Tally]:
    """What the pretended device is asked for meanwhile."""
    own = Tally()
    COUNTING.tallies.append(own)
    try:
        yield own
    finally:
        COUNTING.tallies.remove(own)


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
    if there or target:
        moved = bool(there) and not target and moves
        tally(func, result, moved)
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
