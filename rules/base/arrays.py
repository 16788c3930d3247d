"""What the rules need to know about arrays: NumPy, torch, or NumPy object arrays of exact fractions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np
from numpy.typing import NDArray

from kappaguard.rules.base.errors import InputError

Array = Any
"""A NumPy array, a torch tensor, or a NumPy object array of ``fractions.Fraction``."""


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def namespace(x: Array) -> Any:
    """The array-API namespace that ``x`` belongs to."""
    # the general look-up costs more than most operations on an n x n matrix
    return array_api_compat.numpy if type(x) is np.ndarray else array_api_compat.array_namespace(x)


def is_exact(x: Array) -> bool:
    """Whether ``x`` holds exact fractions (a NumPy object array) instead of floats."""
    return isinstance(x, np.ndarray) and x.dtype == object


def as_array(x: Array | Sequence[Any]) -> Array:
    """``x`` as an array of floats or fractions; integers and booleans become float64, lists become arrays."""
    if type(x) is np.ndarray and x.dtype in _FLOATS:
        return x
    array: Any
    if isinstance(x, np.ma.MaskedArray) and np.ma.getmaskarray(x).any():
        raise InputError(f"x has {int(np.ma.getmaskarray(x).sum())} masked entries; there is no rule for those")
    if isinstance(x, np.ndarray):
        array = np.asarray(x)
    elif array_api_compat.is_array_api_obj(x):
        array = x
    elif isinstance(x, Sequence) and len(x) > 0 and array_api_compat.is_torch_array(x[0]):
        import torch

        try:
            array = torch.stack(list(x))
        except (RuntimeError, TypeError) as error:
            raise InputError(f"x is not a list of vectors of one length: {error}") from None
    else:
        try:
            array = np.asarray(x)
        except ValueError as error:
            raise InputError(f"x is not a rectangular array of numbers: {error}") from None
    if is_exact(array):
        return _fractions(array)
    xp = namespace(array)
    if xp.isdtype(array.dtype, ("bool", "integral")):
        return xp.astype(array, xp.float64)
    if not xp.isdtype(array.dtype, "real floating"):
        raise InputError(f"x must hold real numbers, got dtype {array.dtype}")
    return array


def device_of(x: Array) -> Any:
    """The device on which x lives."""
    return array_api_compat.device(x)


def to_numpy(x: Array) -> NDArray[Any]:
    """x as a NumPy array, for decisions that are made by ordinary Python."""
    return np.asarray(x if isinstance(x, np.ndarray) else x.detach().cpu())


def off_diagonal(x: Array) -> Array:
    """The n x n mask of pairs of different rows of x."""
    xp = namespace(x)
    index = xp.arange(x.shape[-2], device=device_of(x))
    return index[:, None] != index[None, :]


def _fractions(x: NDArray[Any]) -> NDArray[Any]:
    """An object array whose entries are fractions; integers become such."""
    for entry in x.flat:
        if not isinstance(entry, Rational):
            raise InputError(
                f"an object array must hold exact fractions, got {type(entry).__name__} {str(entry)[:40]!r}"
            )
    if all(type(entry) is Fraction for entry in x.flat):
        return x
    result = np.empty(x.size, dtype=object)
    result[:] = [Fraction(entry) for entry in x.flat]
    return result.reshape(x.shape)


def bounded(x: Array, low: float | None, high: float | None) -> Array:
    """x with its entries moved into [low, high]; the compatibility layer's own clip costs ten times as much."""
    return x.clip(low, high)


def in_double(x: Array) -> Array:
    """``x`` in float64 (fractions stay fractions): where decisions are made."""
    if is_exact(x):
        return x
    xp = namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def enter(x: Array | Sequence[Any]) -> tuple[Array, Callable[[Array], Array]]:
    """``x`` as an array on the fastest equivalent backend, and the way back for results.

    A torch tensor on the CPU that needs no gradient shares its memory with a NumPy array, where small matrices
    cost a tenth of torch's overhead and the compiled kernels apply.
    """
    if type(x) is np.ndarray and x.dtype in _FLOATS:
        return x, _same
    torch = sys.modules.get("torch")
    given: Any = x
    array = given if torch and type(x) is torch.Tensor and given.is_floating_point() else as_array(x)
    if torch is None or type(array) is not torch.Tensor or not array.is_cpu:
        return array, _same
    if array.dtype not in (torch.float32, torch.float64):
        return array, _same
    if torch._C._functorch.is_functorch_wrapped_tensor(array):
        return array, _same
    if array.requires_grad:
        return (array, _same) if torch.is_grad_enabled() else (array.detach().numpy(), torch.from_numpy)
    return array.numpy(), torch.from_numpy


def _same(result: Array) -> Array:
    return result
