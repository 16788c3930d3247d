"""The compiled block of layers: convolution, rectifier and pooling as one operation on float32 samples on a CPU.

Everything else (float64, GPUs, other kernels, a machine without a compiler, ``KAPPAGUARD_NATIVE=0``) takes the layers
one by one.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

KERNEL = 5


@cache
def _compiled() -> Any:
    """The compiled module; None if there is none, or it is switched off."""
    if os.environ.get("KAPPAGUARD_NATIVE", "1") == "0":
        return None
    try:
        return importlib.import_module("kappaguard.training.native._blocks")
    except ImportError:
        return None


def available() -> bool:
    """Whether the compiled block is installed and switched on."""
    return _compiled() is not None


def applies(x: Tensor, kernel: int) -> bool:
    """Whether the compiled block can take samples (N, channels, height, width)."""
    import torch

    fits = kernel == KERNEL and all(size > KERNEL and size % 2 == 0 for size in x.shape[2:])
    return fits and x.device.type == "cpu" and x.dtype == torch.float32 and available()


class BlockMemory(NamedTuple):
    """What the backward pass needs: which place won each square, the input, and its shape.

    Winners are numbered row by row from 0; 4 says that nothing in the square is positive.
    """

    winners: Tensor
    inputs: Tensor
    shape: tuple[int, ...]


def forward(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, BlockMemory]:
    """The largest positive part of every 2 x 2 square of the convolution, and what the backward pass needs."""
    import torch

    inputs = x.permute(0, 2, 3, 1).contiguous()
    samples, height, width, _ = sizes = tuple(inputs.shape)
    shape = (samples, (height - KERNEL + 1) // 2, (width - KERNEL + 1) // 2, len(weight))
    pooled = torch.empty(shape, dtype=torch.float32, device="cpu")
    winners = torch.empty(shape, dtype=torch.uint8, device="cpu")
    arrays = [each.contiguous().numpy() for each in (inputs, weight, bias)]
    _compiled().forward(*sizes, len(weight), *arrays, pooled.numpy(), winners.numpy())
    return pooled.permute(0, 3, 1, 2), BlockMemory(winners, inputs, sizes)


def backward(
    gradient: Tensor, memory: BlockMemory, weight: Tensor, workers: int, wanted: bool
) -> tuple[Tensor | None, Tensor, Tensor]:
    """The gradient of the input, if it is wanted, and the workers' of kernels and biases."""
    import torch

    outputs = len(weight)
    found = torch.empty((workers, weight.numel() + outputs), dtype=torch.float32, device="cpu")
    back = torch.empty(memory.shape, dtype=torch.float32, device="cpu") if wanted else None
    given = gradient.permute(0, 2, 3, 1).contiguous()
    arrays = [each.contiguous().numpy() for each in (memory.inputs, weight, given, memory.winners)]
    _compiled().backward(
        *memory.shape, outputs, workers, *arrays, found.numpy(), None if back is None else back.numpy()
    )
    own = found[:, : weight.numel()].view(workers, *weight.shape), found[:, weight.numel() :]
    return (None if back is None else back.permute(0, 3, 1, 2)), *own
