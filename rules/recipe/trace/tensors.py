"""A stand-in for torch tensors: a symbolic array with torch's names for things.

``torch.f(x)`` and ``x.f()`` are looked up in one table. What torch does otherwise than NumPy is kept: the median of an
even number is the lower of the two in the middle, variances divide by n - 1, ``min`` and ``max`` along a dimension
return values and indices.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kappaguard.rules.recipe.trace.array import (
    Chosen,
    CutRows,
    SymbolicArray,
    has_symbols,
    joined,
    require_float,
    symbolic,
)
from kappaguard.rules.recipe.trace.expression import Expression
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.summaries import stacked

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
        return meaning_of(name, "torch")(*args, **(options or {}))

    def __getattr__(self, name: str) -> Any:
        import torch

        if name.startswith("__") or not hasattr(torch.Tensor, name):
            raise AttributeError(name)
        meaning = meaning_of(name, "Tensor")
        return lambda *args, **options: meaning(self, *args, **options)

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
    is_cuda = False

    @property
    def data(self) -> SymbolicTensor:
        """The entries, which are shared."""
        return SymbolicTensor(self.array)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """A tensor's, for code that asks with ``isinstance``."""
        import torch

        return torch.Tensor

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


def meaning_of(name: str, owner: str) -> Callable[..., Any]:
    """What torch's function or method of a name does to symbols."""
    for module in ("tensor_methods", "tensor_changes"):
        importlib.import_module(f"kappaguard.rules.recipe.trace.{module}")
    if name not in METHODS:
        refuse(f"{owner}.{name} has no exact meaning here")
    return METHODS[name]


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
            if not found.ndim or found.is_complex():
                return found
            return SymbolicTensor(found.cpu().numpy().astype(object).view(SymbolicArray))

        return make

    def making(function: Any) -> Callable[..., Any]:
        def make(value: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
            inner = arrays(value)
            if not has_symbols(inner):
                return function(value, *args, dtype=dtype, **options)
            require_float(dtype)
            same = function is torch.as_tensor and type(value) is SymbolicTensor
            return value if same else tensor(symbolic(stacked(inner).copy()))

        return make

    def joining(function: Any) -> Callable[..., Any]:
        def join(parts: Any, dim: int = 0) -> Any:
            if isinstance(parts, Chosen) and dim == 0:
                return parts
            if isinstance(parts, list | tuple) and any(isinstance(each, CutRows) for each in parts):
                return tensor(joined(parts, dim))
            # torch itself sees through lists only
            return function(list(parts) if isinstance(parts, list | tuple) else parts, dim)

        return join

    filled = (torch.zeros, torch.ones, torch.full, torch.empty, torch.eye)
    found: dict[Any, Callable[..., Any]] = {function: filling(function) for function in filled}
    found[torch.as_tensor], found[torch.tensor] = making(torch.as_tensor), making(torch.tensor)

    def constructed(value: Any, *args: Any) -> Any:
        return found[torch.tensor](value) if has_symbols(arrays(value)) else torch.Tensor(value, *args)

    return found | {torch.stack: joining(torch.stack), torch.cat: joining(torch.cat), torch.Tensor: constructed}


def arrays(value: Any) -> Any:
    """What torch code hands over, as NumPy has it."""
    if type(value) is SymbolicTensor:
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
    "true_divide": "truediv",
    "divide": "truediv",
    "mm": "matmul",
    "subtract": "sub",
    "multiply": "mul",
    "absolute": "abs",
}.items():
    METHODS[_alias] = METHODS[_name]
