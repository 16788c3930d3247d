"""How people hand vectors to a rule, and what they get back: the styles that are tried, or named with ``backend``.

    numpy, torch, same    one (n, d) array or tensor
    list                  [vector, ...]
    layers                [[layer, ...], ...], the result a list of layers
    state_dict            [{name: layer, ...}, ...], the result such a dictionary
    pairs                 [([layer, ...], num_examples), ...] as Flower's functions take them, see ``counts``

All but the first may be said to be of tensors: ``torch-list``. A vector is cut into two layers, the first of them a
matrix with one row, so that code which forgets a layer or the shape of one shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kappaguard.rules.base.arrays import Array
from kappaguard.rules.foreign.convert import Form
from kappaguard.rules.foreign.counts import Counts, per_row

PLAIN = ("numpy", "torch", "same")
CONTAINERS = ("list", "layers", "state_dict", "pairs")
STYLES = (*PLAIN, *CONTAINERS, *(f"torch-{style}" for style in CONTAINERS))
NAMES = ("weight", "bias")


def form_of(style: str) -> Form:
    """What the vectors of a style are made of."""
    if style in PLAIN:
        return style  # type: ignore[return-value]
    return "torch" if style.startswith("torch-") else "numpy"


def hand_over(vectors: Array, style: str, counts: Counts = 1) -> Any:
    """The (n, d) vectors as a rule of this style wants them."""
    match style.removeprefix("torch-"):
        case "list":
            return list(vectors)
        case "layers":
            return [_layers(row) for row in vectors]
        case "state_dict":
            return [dict(zip(NAMES, _layers(row), strict=False)) for row in vectors]
        case "pairs":
            return [(_layers(row), count) for row, count in zip(vectors, per_row(counts, len(vectors)), strict=True)]
    return vectors


def _layers(row: Array) -> list[Array]:
    first = math.ceil(len(row) / 2)
    layers = [row[:first].reshape(1, first)]
    return [*layers, row[first:]] if len(row) > first else layers


def read_back(result: Any, style: str) -> Any:
    """The vector that a rule of this style returned; whatever else it is stays as it is, to be told."""
    if style in (*PLAIN, "list", "torch-list"):
        return result
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], list | Mapping):
        # with metrics, or with a number of examples
        result = result[0]
    if isinstance(result, Mapping):
        result = [result[name] for name in NAMES if name in result]
    if isinstance(result, list | tuple) and result and all(hasattr(layer, "reshape") for layer in result):
        return _joined([layer.reshape(-1) for layer in result])
    return result


def _joined(layers: list[Any]) -> Any:
    if layers[0].__class__.__module__.partition(".")[0] == "torch":
        import torch

        return torch.cat(layers)
    return np.concatenate(layers)


def is_vector(result: Any, d: int) -> bool:
    """Whether a result is d finite numbers."""
    if result is None or isinstance(result, str | bytes | Mapping):
        return False
    if hasattr(result, "detach"):
        result = result.detach()
    try:
        values = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return values.shape == (d,) and bool(np.isfinite(values).all())


def first_that_works(attempt: Callable[[str], Any], styles: tuple[str, ...], d: int) -> str | None:
    """The first style in which a call returns a vector; None if there is none."""
    for style in styles:
        try:
            if is_vector(attempt(style), d):
                return style
        except (Exception, SystemExit):  # this is how it is found out
            continue
    return None
