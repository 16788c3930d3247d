"""Private copies of matrices in the form that a rule wants, and results back in the form of the input."""

from __future__ import annotations

from typing import Literal

import array_api_compat
import numpy as np

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.base.errors import InputError
from kappaguard.rules.foreign.parameters import one_line

Form = Literal["numpy", "torch", "same"]
"""What a rule is handed: a NumPy array, a torch tensor, or whichever of the two the caller used."""

FORMS: tuple[Form, ...] = ("numpy", "torch", "same")


def form_named(backend: object) -> Form:
    """The ``backend`` option as a ``Form``."""
    if backend not in FORMS:
        raise InputError(f"backend is one of {', '.join(FORMS)}, not {backend!r}")
    return backend


def in_form(matrix: Array, form: Form) -> Array:
    """A copy of ``matrix`` in float64 that shares no memory with it; torch to torch keeps gradients."""
    if array_api_compat.is_torch_array(matrix):
        import torch

        if form == "numpy":
            return matrix.detach().to("cpu", torch.float64, copy=True).numpy()
        return matrix.to(torch.float64, copy=True)
    copied = np.array(matrix, dtype=np.float64, order="C", copy=True)
    if form == "torch":
        try:
            import torch
        except ImportError as error:
            raise InputError(f"this rule takes torch tensors, and torch does not import: {one_line(error)}") from None
        return torch.from_numpy(copied)
    return copied


def like(result: Array, example: Array) -> Array:
    """``result`` in the family, dtype and device of ``example``."""
    if array_api_compat.is_torch_array(example):
        import torch

        tensor = result if array_api_compat.is_torch_array(result) else torch.from_numpy(np.asarray(result).copy())
        # The parameters of a torch module would otherwise attach a graph that nobody asked for.
        tensor = tensor if example.requires_grad else tensor.detach()
        return tensor.to(example.device, example.dtype)
    if array_api_compat.is_torch_array(result):
        result = result.detach().to("cpu").double().numpy()
    return np.asarray(result).astype(example.dtype)


def all_finite(array: Array) -> bool:
    """Whether no entry is NaN or infinite."""
    return bool(np.isfinite(as_numpy(array)).all())


def has_nan(array: Array) -> bool:
    """Whether some entry is NaN."""
    return bool(np.isnan(as_numpy(array)).any())


def as_numpy(array: Array) -> Array:
    """``array`` as NumPy, for looking at only."""
    if array_api_compat.is_torch_array(array):
        return array.detach().to("cpu").double().numpy()
    return np.asarray(array)
