"""A stand-in for torch tensors: a symbolic array with torch's names for things.

``torch.f(x)`` and ``x.f()`` are looked up in one table. What torch does otherwise than NumPy is kept: the median of an
even number is the lower of the two in the middle, variances divide by n - 1, ``min`` and ``max`` along a dimension
return values and indices.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kappaguard.rules.recipe.trace.array import (
    Chosen,
    SymbolicArray,
    as_object,
    has_symbols,
    plain,
    require_float,
    symbolic,
)
from kappaguard.rules.recipe.trace.expression import Expression
from kappaguard.rules.recipe.trace.functions import cdist
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.summaries import SUMMARIES

METHODS: dict[str, Callable[..., Any]] = {}


class ValuesAndIndices(NamedTuple):
    """What ``torch.sort``, ``topk``, ``min`` and ``max`` return."""

    values: Any
    indices: Any


class SymbolicTensor:
    """A symbolic array that answers to torch's names."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), options: Any = None) -> Any:
        name = function.__name__
        name = name.strip("_") if name.startswith("__") else name
        if name not in METHODS:
            refuse(f"torch.{name} has no exact meaning here")
        return METHODS[name](*args, **(options or {}))

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            if name.startswith("__"):
                raise AttributeError(name)
            refuse(f"Tensor.{name} has no exact meaning here")
        return lambda *args, **options: METHODS[name](self, *args, **options)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as a tensor says it."""
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes, as a tensor says it."""
        return int(self.array.ndim)

    @property
    def dtype(self) -> Any:
        """The dtype of doubles, which the symbols stand for."""
        import torch

        return torch.float64

    @property
    def device(self) -> Any:
        """The CPU, on which symbols live."""
        import torch

        return torch.device("cpu")

    @property
    def T(self) -> SymbolicTensor:  # noqa: N802
        """The transposed array."""
        return SymbolicTensor(self.array.T)

    mT = T  # noqa: N815
    requires_grad = False

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        return (tensor(each) for each in self.array)

    def __getitem__(self, key: Any) -> Any:
        keys = tuple(arrays(each) for each in key) if isinstance(key, tuple) else arrays(key)
        return tensor(self.array[keys])

    def __setitem__(self, key: Any, value: Any) -> None:
        keys = tuple(arrays(each) for each in key) if isinstance(key, tuple) else arrays(key)
        self.array[keys] = arrays(value)

    def __bool__(self) -> bool:
        return bool(self.array)


class ChosenTensor(Chosen):
    """What a mask chose from a tensor: its sum and mean are tensors."""

    def sum(self, axis: Any = None, dim: Any = None, **_: Any) -> Any:
        """The sum over the chosen rows."""
        return tensor(super().sum(axis if dim is None else dim))

    def mean(self, axis: Any = None, dim: Any = None, **_: Any) -> Any:
        """Their mean."""
        return tensor(super().mean(axis if dim is None else dim))

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), options: Any = None) -> Any:
        if function.__name__ not in ("mean", "sum") or not isinstance(args[0], cls):
            refuse(f"torch.{function.__name__} of what a mask chose", "only sum and mean of it are known")
        return getattr(args[0], function.__name__)(*args[1:], **(options or {}))


def tensor(value: Any) -> Any:
    """Symbolic arrays as tensors; a condition stays one, and what a mask chose keeps its own sum and mean."""
    if isinstance(value, np.ndarray):
        if not isinstance(value, SymbolicArray):
            import torch

            return torch.from_numpy(value.copy())
        return SymbolicTensor(value)
    if isinstance(value, Chosen):
        return ChosenTensor(value.rows, value.conditions)
    if isinstance(value, Expression):
        single = np.empty((), dtype=object)
        single[()] = value
        return SymbolicTensor(single.view(SymbolicArray))
    return value


def stand_ins() -> dict[Any, Callable[..., Any]]:
    """``torch.zeros`` and its like: tensors of floats, and masks, may have to hold symbols."""
    import torch

    def filling(function: Any) -> Callable[..., Any]:
        def make(*args: Any, **options: Any) -> Any:
            found = function(*args, **options)
            if not found.ndim or not (found.is_floating_point() or found.dtype is torch.bool):
                return found
            return SymbolicTensor(found.cpu().numpy().astype(object).view(SymbolicArray))

        return make

    return {function: filling(function) for function in (torch.zeros, torch.ones, torch.full, torch.empty)}


def arrays(value: Any) -> Any:
    """What torch code hands over, as NumPy has it."""
    if isinstance(value, SymbolicTensor):
        return value.array if value.ndim else value.array[()]
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if isinstance(value, list | tuple) and any(isinstance(each, SymbolicTensor) for each in value):
        return [arrays(each) for each in value]
    return value


def method(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of NumPy arrays under torch's names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = _signature(function)

        def call(*args: Any, **options: Any) -> Any:
            for key, value in options.items():
                if key not in signature and value is not None and value is not False:
                    refuse(f"torch.{names[0]} with {key}={value!r:.40}")
            if options.get("keepdim") and names[0] in ("kthvalue", "median", "min", "max"):
                refuse(f"torch.{names[0]} with keepdim")
            found = function(*map(arrays, args), **{key: arrays(value) for key, value in options.items()})
            if isinstance(found, ValuesAndIndices):
                return ValuesAndIndices(tensor(found.values), tensor(found.indices))
            return tensor(found)

        for name in names:
            METHODS[name] = call
        return function

    return register


def _signature(function: Callable[..., Any]) -> set[str]:
    """The names of its parameters; all names where they cannot be known."""
    try:
        return {each.name for each in inspect.signature(function).parameters.values() if each.kind != each.VAR_KEYWORD}
    except (TypeError, ValueError):
        return set()


def _operator(name: str, operation: Callable[..., Any]) -> None:
    method(name)(operation)
    for prefix in ("", "r"):
        reverse = prefix == "r"

        def call(self: Any, *others: Any, reverse: bool = reverse) -> Any:
            return METHODS[name](*others, self) if reverse else METHODS[name](self, *others)

        setattr(SymbolicTensor, f"__{prefix}{name}__", call)


def _summary(function: Any) -> Callable[..., Any]:
    return SUMMARIES[function]


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b, **_: a + b,
    "sub": lambda a, b, **_: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "matmul": lambda a, b: a @ b,
    "pow": lambda a, b: a**b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "neg": lambda a: -a,
    "invert": lambda a: ~a,
    "abs": np.abs,
}
for _name, _operation in OPERATORS.items():
    _operator(_name, _operation)
for _alias, _name in {
    "div": "truediv",
    "mm": "matmul",
    "subtract": "sub",
    "multiply": "mul",
    "absolute": "abs",
}.items():
    METHODS[_alias] = METHODS[_name]


method("sqrt")(np.sqrt)
method("square")(lambda a: a * a)
method("t", "numpy_T")(lambda a: a.T)
method("clone", "float")(lambda a: a.copy())
method("detach", "contiguous", "cpu", "double")(lambda a: a)
method("dim")(lambda a: a.ndim)
method("numel")(lambda a: a.size)
method("size")(lambda a, dim=None: a.shape if dim is None else a.shape[dim])
method("unsqueeze")(lambda a, dim: np.expand_dims(a, axis=dim))
method("squeeze")(lambda a, dim=None: np.squeeze(a, dim))
method("reshape", "view")(lambda a, *shape: a.reshape(*shape))
method("transpose", "swapaxes")(np.swapaxes)
method("permute")(lambda a, *axes: a.transpose(*axes))
method("expand_as")(lambda a, other: symbolic(np.broadcast_to(a, other.shape)))
method("diagonal", "diag")(lambda a, *_, **__: np.diagonal(a))
method("stack")(lambda parts, dim=0: symbolic(np.stack([as_object(plain(each)) for each in parts], axis=dim)))
method("cat", "concatenate", "vstack")(lambda parts, dim=0: np.concatenate(parts, axis=dim))
method("einsum")(np.einsum)
method("where")(_summary(np.where))
method("maximum")(np.maximum)
method("minimum")(np.minimum)
method("index_select")(
    lambda a, dim, index: np.take(a, index, axis=dim) if not has_symbols(index) else _taken(a, index, dim)
)
method("gather")(lambda a, dim, index: _summary(np.take_along_axis)(a, index, axis=dim))
method("narrow")(lambda a, dim, start, length: a[(*[slice(None)] * (dim % a.ndim), slice(start, start + length))])
method("cdist")(lambda a, b, p=2.0, compute_mode=None: cdist(a, b) if p == 2 else refuse(f"distances of order {p}"))
method("quantile")(lambda a, q, dim=None, **_: _summary(np.quantile)(a, float(q), dim))
method("argmin")(lambda a, dim=None, keepdim=False: _summary(np.argmin)(a, dim, keepdims=keepdim))
method("argmax")(lambda a, dim=None, keepdim=False: _summary(np.argmax)(a, dim, keepdims=keepdim))
method("logical_and")(lambda a, b: a & b)
method("isfinite")(np.isfinite)
method("isnan")(np.isnan)


def _taken(array: Any, index: Any, dim: int) -> Any:
    return _summary(np.take)(array, index, dim)


@method("flatten")
def _flatten(a: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    end = end_dim % a.ndim
    return a.reshape(*a.shape[:start_dim], -1, *a.shape[end + 1 :])


@method("expand")
def _expand(a: Any, *sizes: Any) -> Any:
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    kept = (*[1] * (len(shape) - a.ndim), *a.shape)
    return symbolic(np.broadcast_to(a, [own if size == -1 else size for size, own in zip(shape, kept, strict=True)]))


@method("sum")
def _sum(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    if not isinstance(a, np.ndarray):
        return a.sum(0 if dim is None else dim) if hasattr(a, "sum") else a
    return a.sum(axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim)


@method("mean")
def _mean(a: Any, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    if not isinstance(a, np.ndarray):
        return a.mean(0 if dim is None else dim)
    return a.mean(axis=tuple(dim) if isinstance(dim, list) else dim, keepdims=keepdim)


@method("var")
def _var(a: Any, dim: Any = None, correction: int = 1, unbiased: bool | None = None, **_: Any) -> Any:
    return _summary(np.var)(a, dim, ddof=correction if unbiased is None else int(unbiased))


@method("norm")
def _norm(a: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    if p not in (2, 2.0, "fro"):
        refuse(f"the norm of order {p}", "the Euclidean norm is known")
    return np.sqrt((a * a).sum(axis=dim, keepdims=keepdim))


METHODS["linalg_norm"] = METHODS["vector_norm"] = METHODS["linalg_vector_norm"] = METHODS["norm"]


@method("to", "type")
def _to(a: Any, *given: Any, dtype: Any = None, device: Any = None) -> Any:
    import torch

    kinds = [each for each in (*given, dtype) if isinstance(each, torch.dtype)]
    for each in kinds:
        require_float(each)
    return a.copy() if any(each != torch.float64 for each in kinds) else a


method("clamp_min")(lambda a, min: _summary(np.clip)(a, min, None))
method("clamp_max")(lambda a, max: _summary(np.clip)(a, None, max))


@method("clamp", "clip")
def _clamp(a: Any, min: Any = None, max: Any = None) -> Any:
    return _summary(np.clip)(a, min, max)


@method("sort")
def _sort(a: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    values, indices = _summary(np.sort)(a, axis=dim), _summary(np.argsort)(a, axis=dim)
    if descending:
        values, indices = np.flip(values, dim), np.flip(indices, dim)
    return ValuesAndIndices(values, indices)


@method("argsort")
def _argsort(a: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return _sort(a, dim, descending).indices


@method("topk")
def _topk(a: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    found = _sort(a, dim, largest)
    key = (*[slice(None)] * (dim % a.ndim), slice(0, k))
    return ValuesAndIndices(found.values[key], found.indices[key])


@method("kthvalue")
def _kthvalue(a: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    found = _sort(a, dim)
    key = (*[slice(None)] * (dim % a.ndim), k - 1)
    return ValuesAndIndices(found.values[key], found.indices[key])


@method("median")
def _median(a: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    flat = a.reshape(-1) if dim is None else a
    axis = -1 if dim is None else dim
    found = _kthvalue(flat, (flat.shape[axis] + 1) // 2, axis)
    return found.values if dim is None else found


@method("min")
def _min(a: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _extreme(a, dim, np.min, np.argmin, np.minimum)


@method("max")
def _max(a: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _extreme(a, dim, np.max, np.argmax, np.maximum)


def _extreme(a: Any, dim: Any, values: Any, indices: Any, pairwise: Any) -> Any:
    if dim is None:
        return _summary(values)(a)
    if not isinstance(dim, int):
        return pairwise(a, dim)
    return ValuesAndIndices(_summary(values)(a, dim), _summary(indices)(a, dim))


@method("fill_diagonal", "fill_diagonal_")
def _fill_diagonal(a: Any, value: Any, **_: Any) -> Any:
    np.fill_diagonal(a, value)
    return a


@method("take_along_dim")
def _take_along_dim(a: Any, index: Any, dim: int) -> Any:
    return _summary(np.take_along_axis)(a, index, axis=dim)
