"""What torch's functions and the methods of its tensors do to symbolic arrays, under torch's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from kappaguard.rules.recipe.trace.array import as_object, converted, has_symbols, plain, symbolic
from kappaguard.rules.recipe.trace.functions import cdist, merged
from kappaguard.rules.recipe.trace.marks import write_along
from kappaguard.rules.recipe.trace.refusal import refuse
from kappaguard.rules.recipe.trace.summaries import SUMMARIES
from kappaguard.rules.recipe.trace.tensors import METHODS, ValuesAndIndices, arrays, method, tensor
from kappaguard.rules.recipe.trace.ufuncs import entrywise


def _summary(function: Any) -> Any:
    return SUMMARIES[function]


method("sqrt")(np.sqrt)
method("square")(lambda a: a * a)
method("t", "numpy_T")(lambda a: a.T)
method("clone", "float", "copied")(lambda a, other=None: (a if other is None else symbolic(as_object(other))).copy())
method("detach", "cpu", "double")(lambda a: a)
METHODS["item"] = arrays
METHODS["tolist"] = lambda a: plain(arrays(a)).tolist() if a.ndim else arrays(a)
method("contiguous")(lambda a: a if a.flags.c_contiguous else a.copy())
method("zeros_like")(lambda a, **_: symbolic(np.zeros(a.shape, dtype=object)))
method("ones_like")(lambda a, **_: symbolic(np.ones(a.shape, dtype=object)))
method("empty_like")(lambda a, **_: symbolic(np.zeros(a.shape, dtype=object)))
method("full_like")(lambda a, fill_value, **_: symbolic(np.full(a.shape, fill_value, dtype=object)))
method("masked_fill")(lambda a, mask, value: entrywise(merged, mask, value, a))
method("view_as", "reshape_as")(lambda a, other: a.reshape(other.shape))
method("dist")(lambda a, b, p=2: np.sqrt(((a - b) ** 2).sum()) if p == 2 else refuse(f"distances of order {p}"))
method("lerp")(lambda a, b, weight: a + weight * (b - a))
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


@method("unbind")
def _unbind(a: Any, dim: int = 0) -> Any:
    return tuple(map(tensor, np.moveaxis(a, dim, 0)))


METHODS["unbind"] = lambda a, dim=0: _unbind(arrays(a), dim)


@method("pairwise_distance")
def _pairwise_distance(a: Any, b: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    if p != 2 or eps:
        refuse("torch.pairwise_distance adds eps to every difference", "use torch.cdist, or eps=0")
    return np.sqrt(((a - b) ** 2).sum(axis=-1, keepdims=keepdim))


@method("scatter")
def _scatter(a: Any, dim: int, index: Any, src: Any = None, value: Any = None) -> Any:
    found = a.copy()
    write_along(found, index, src if value is None else value, dim)
    return found


@method("one_hot")
def _one_hot(index: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        refuse("torch.one_hot with as many classes as the input has", "name num_classes")
    return symbolic(np.eye(num_classes).astype(object))[index]


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
        converted(a, each)
    return a.copy() if any(each != torch.float64 for each in kinds) else a


method("long", "int")(lambda a: converted(a, np.int64))


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


@method("median", "nanmedian")
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
